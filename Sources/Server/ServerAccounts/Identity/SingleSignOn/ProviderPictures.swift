import JSON
import MatrixModel
import Outbound
import ServerMedia
import Telemetry

/// Brings a person's picture from the provider, once, when the account is made.
struct ProviderPictures: Sendable {
  let http: HTTPClient
  let media: MediaRepository
  let profiles: Profiles
  let log: Log

  private static let bytesLimit = 1 << 20
  private static let timeout = Duration.seconds(5)
  private static let types = ["image/jpeg", "image/png", "image/gif", "image/webp"]

  /// Copies the picture. If that fails, the user simply has no avatar: a picture must not prevent a login. The person may control the URL, so it
  /// may lead to public addresses only.
  func give(_ url: String, to userID: UserID) async {
    do {
      let answer = try await http.send(
        OutgoingRequest(
          url: url, timeout: Self.timeout, responseBytesLimit: Self.bytesLimit, redirectLimit: 3,
          destinations: .publicAddresses))
      let type = answer.header("content-type").map { String($0.prefix { $0 != ";" }) } ?? ""
      guard answer.status == 200, !answer.isTruncated, Self.types.contains(type) else { return }
      var pieces = [answer.body][...]
      let upload = try MediaUpload(
        contentType: ByteString(type), fileName: nil, announcedBytes: Int64(answer.body.count))
      let picture = try await media.upload(upload, by: userID) { pieces.popFirst() }
      try await profiles.set("avatar_url", to: try JSON.parse(JSON.text(ByteString(picture.description))), of: userID)
    } catch {
      log.info("a picture of a new account was not had", ["error": .text(String(describing: error))])
    }
  }
}
