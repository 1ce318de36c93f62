import ServerMedia
import Telemetry

extension Setting {
  /// Files that users upload.
  static let media: [Setting] = [
    .integer(
      "max_upload_bytes", \.uploadBytesLimit, "The size of the largest file that users can upload, in bytes.", 1...(1 << 40)),
    .integer(
      "media.user_quota_bytes", \.media.userQuotaBytes,
      "The space for all files of one user together, in bytes. 0 means no limit.", 0...(1 << 50)),
    .flag(
      "media.unauthenticated_downloads", \.media.allowsUnauthenticatedDownloads,
      "Whether anyone can download a file without logging in, if they know its address. Clients from before 2024 need this. The setting "
        + "applies to files uploaded from now on. Older files keep the setting of the time of their upload.")
  ]

  /// Previews of pages, and GIFs.
  static let previews: [Setting] = [
    .flag(
      "previews.enabled", \.media.previewsPages,
      "Whether the server fetches pages that messages link to, so that clients can show previews. It fetches from public addresses only (see outbound.allowed_networks)."
    ),
    .list(
      "previews.denied_urls", \.media.deniedPreviewURLs,
      "The URLs from which the server fetches neither previews nor GIFs. An asterisk stands for any text, as in `https://*.example.org/*`.",
      allowed: "1 to 1024 bytes, in lower case up to the end of the host name",
      parse: { (1...1_024).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    .one(
      "gifs.url", \.gifs.url,
      "The GIF provider: a URL with GIPHY's API, such as https://api.giphy.com/v1/gifs. The server searches there and fetches the pictures, "
        + "so the provider does not learn who searches.",
      allowed: "a URL that starts with https:// or http://", defaultText: "none (no search for GIFs)",
      parse: { baseURL($0) }, show: { $0 }),
    .one(
      "gifs.key", \.gifs.key, "The API key that you got from the GIF provider. It must be set if gifs.url is set.",
      allowed: "1 to 255 bytes",
      isSecret: true, parse: { (1...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .choice(
      "gifs.rating", \.gifs.rating,
      "The highest rating of GIFs that users can find, by the film ratings of the United States.",
      words: ["g", "pg", "pg-13", "r"].map { ($0, $0) }, show: { $0 }),
    .one(
      "gifs.provider", \.gifs.provider, "The name of the GIF provider that users see.", allowed: "1 to 60 bytes",
      parse: { (1...60).contains($0.utf8.count) ? $0 : nil }, show: { $0 })
  ]
}

extension Configuration {
  /// The search for GIFs. `url` is nil if there is none.
  struct Gifs: Sendable {
    var url: String?
    var key: Redacted<String>?
    var rating = "pg-13"
    var provider = "GIPHY"

    /// The settings as the homeserver takes them; nil without a URL and a key.
    var configuration: GifConfiguration? {
      guard let url, let key else { return nil }
      return GifConfiguration(url: url, key: key, rating: rating, name: provider)
    }
  }

  /// Describes a contradiction between the settings of this file; nil if there is none.
  var mediaContradiction: String? {
    gifs.url != nil && gifs.key == nil ? "gifs.url is set, but gifs.key is not" : nil
  }
}
