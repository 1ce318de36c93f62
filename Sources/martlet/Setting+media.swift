import ServerMedia
import Telemetry

extension Setting {
  /// Files that users upload, and previews of pages.
  static let media: [Setting] = [
    .integer("max_upload_bytes", \.uploadBytesLimit, "The largest file that can be uploaded, in bytes.", 1...(1 << 40)),
    .integer(
      "media.user_quota_bytes", \.media.userQuotaBytes,
      "What all files of one user may take up together, in bytes. 0 sets no limit.", 0...(1 << 50)),
    .flag(
      "media.unauthenticated_downloads", \.media.allowsUnauthenticatedDownloads,
      "Whether files uploaded from now on can be downloaded by everyone who has their address, as clients from before "
        + "2024 need. Files keep what was set when they came."),
    .flag(
      "previews.enabled", \.media.previewsPages,
      "Whether the server fetches pages that messages name, from public addresses only, to show what they are about."),
    .list(
      "previews.denied_urls", \.media.deniedPreviewURLs,
      "Addresses of which no preview is made, and from which no picture of a GIF is fetched; * stands for anything, as in https://*.example.org/*.",
      allowed: "1 to 1024 bytes, in lower case up to the end of the host's name",
      parse: { (1...1_024).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    .one(
      "gifs.url", \.gifs.url,
      "Where GIFs that people look for come from, by GIPHY's API, such as https://api.giphy.com/v1/gifs. The server asks there and "
        + "fetches the pictures, so that nobody who looks for some is known there.",
      allowed: "a URL that starts with https:// or http://", defaultText: "none: there are no GIFs to look for",
      parse: { baseURL($0) }, show: { $0 }),
    .one(
      "gifs.key", \.gifs.key, "The API key that whoever has the GIFs gave to this server.", allowed: "1 to 255 bytes",
      isSecret: true, parse: { (1...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .choice(
      "gifs.rating", \.gifs.rating,
      "The least harmless GIFs that are found and taken, by the ratings of films in the United States.",
      words: ["g", "pg", "pg-13", "r"].map { ($0, $0) }, show: { $0 }),
    .one(
      "gifs.provider", \.gifs.provider, "What people are told of where the GIFs come from.", allowed: "1 to 60 bytes",
      parse: { (1...60).contains($0.utf8.count) ? $0 : nil }, show: { $0 })
  ]
}

extension Configuration {
  /// GIFs to look for. `url` is nil where there are none.
  struct Gifs: Sendable {
    var url: String?
    var key: Redacted<String>?
    var rating = "pg-13"
    var provider = "GIPHY"

    /// What the domain needs of them.
    var configuration: GifConfiguration? {
      guard let url, let key else { return nil }
      return GifConfiguration(url: url, key: key, rating: rating, name: provider)
    }
  }

  /// What the settings of this file need of each other; nil if all is well.
  var mediaContradiction: String? {
    gifs.url != nil && gifs.key == nil ? "gifs.url is set, but gifs.key is not" : nil
  }
}
