public import ClientCore
public import JSON
public import MatrixModel

/// Notifications, media and what the account keeps on the server.
extension MatrixClient {
  // MARK: Notifications

  public func pushers() async throws(ClientError) -> [Pusher] { try await perform(.pushers()) }

  /// Makes the pusher, or changes the one of that key and application.
  public func setPusher(_ pusher: Pusher, keepsOthers: Bool = false) async throws(ClientError) {
    try await perform(.setPusher(pusher, keepsOthers: keepsOthers))
  }

  /// What a browser subscribes with to be pushed to by this server (`applicationServerKey`, in URL-safe Base64); nil where the server
  /// has no Web Push. The subscription becomes a pusher of kind `webPush`.
  public func webPushKey() async throws(ClientError) -> ByteString? { try await perform(.webPushKey) }

  /// Sends back what a Web Push pusher was pushed first, `app_id` and `ack_token`: nothing else is pushed to it before.
  public func activatePusher(appID: ByteString, token: ByteString) async throws(ClientError) {
    try await perform(.activatePusher(appID: appID, token: token))
  }

  public func deletePusher(key: ByteString, appID: ByteString) async throws(ClientError) {
    try await perform(.deletePusher(key: key, appID: appID))
  }

  /// The push rules as the server has them.
  public func pushRules() async throws(ClientError) -> JSON { try await perform(.pushRules()) }

  /// What one was notified of, the newest first.
  public func notifications(
    highlightsOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> NotificationPage {
    try await perform(.notifications(highlightsOnly: highlightsOnly, limit: limit, from: from))
  }

  // MARK: Media

  /// Bytes of the largest file that one may upload; nil where the server does not say.
  public func uploadLimit() async throws(ClientError) -> Int64? { try await perform(.uploadLimit()) }

  /// Sends a file.
  /// - Parameters:
  ///   - reserved: where it goes (`reserveMedia`); nil for a new place.
  ///   - progress: of its bytes, in order, at the end with the total.
  /// - Throws: `tooLarge` before anything is sent, `attachmentIsGone` where it cannot be read.
  public func upload(
    path: String, mimeType: String, fileName: String? = nil, into reserved: MediaURI? = nil,
    progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> MediaURI {
    guard let size = FileSize.bytes(of: path) else { throw .attachmentIsGone }
    if let limit = try await uploadLimit(), size > limit { throw .tooLarge(limitBytes: limit) }
    let query = Query<MediaURI>.upload(
      BlobHandle(ByteString(path)), mimeType: ByteString(mimeType), fileName: fileName.map { ByteString($0) },
      into: reserved)
    return try await perform(query, progress: progress)
  }

  public func reserveMedia() async throws(ClientError) -> ReservedMedia { try await perform(.reserveMedia()) }

  /// What a page on the web says of itself; the server fetches it.
  public func preview(of url: String) async throws(ClientError) -> URLPreview {
    try await perform(.preview(of: ByteString(url)))
  }

  // MARK: What the account keeps

  /// Refused with `M_NOT_FOUND` where there is none.
  public func accountData(_ type: EventType) async throws(ClientError) -> JSON {
    try await perform(.accountData(type, of: try ownUserID()))
  }

  /// - Parameter content: a JSON object.
  public func setAccountData(_ type: EventType, _ content: [UInt8]) async throws(ClientError) {
    try await perform(.account(.setAccountData(type, content: content)))
  }

  /// The ID of a filter that is now on the server.
  /// - Parameter filter: a JSON object.
  public func createFilter(_ filter: [UInt8]) async throws(ClientError) -> ByteString {
    try await perform(.createFilter(filter, of: try ownUserID()))
  }

  public func filter(_ id: ByteString) async throws(ClientError) -> JSON {
    try await perform(.filter(id, of: try ownUserID()))
  }

  /// Messages with these words in them.
  public func search(_ search: MessageSearch, from: ByteString? = nil) async throws(ClientError) -> SearchPage {
    try await perform(.search(search, from: from))
  }
}
