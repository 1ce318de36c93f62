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
      "Addresses of which no preview is made; * stands for anything, as in https://*.example.org/*.",
      allowed: "1 to 1024 bytes, in lower case up to the end of the host's name",
      parse: { (1...1_024).contains($0.utf8.count) ? $0 : nil }, show: { $0 })
  ]
}
