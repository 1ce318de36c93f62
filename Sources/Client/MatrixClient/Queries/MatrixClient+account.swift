public import ClientCore
public import JSON
public import MatrixModel

/// Pushers, media and account data.
extension MatrixClient {
  // MARK: Notifications

  public func pushers() async throws(ClientError) -> [Pusher] { try await perform(.pushers()) }

  /// Creates a pusher, or changes the existing pusher with its key and app ID.
  public func setPusher(_ pusher: Pusher, keepsOthers: Bool = false) async throws(ClientError) {
    try await perform(.setPusher(pusher, keepsOthers: keepsOthers))
  }

  /// Returns the key with which a browser subscribes to Web Push of this server (`applicationServerKey`, in URL-safe Base64). nil if the
  /// server has no Web Push. The subscription becomes a pusher of kind `webPush`.
  public func webPushKey() async throws(ClientError) -> ByteString? { try await perform(.webPushKey) }

  /// Activates a Web Push pusher with `app_id` and `ack_token` of its first push. The server pushes nothing else before.
  public func activatePusher(appID: ByteString, token: ByteString) async throws(ClientError) {
    try await perform(.activatePusher(appID: appID, token: token))
  }

  public func deletePusher(key: ByteString, appID: ByteString) async throws(ClientError) {
    try await perform(.deletePusher(key: key, appID: appID))
  }

  /// Requests the push rules from the server.
  public func pushRules() async throws(ClientError) -> JSON { try await perform(.pushRules()) }

  /// Returns a page of the user's notifications, the newest first.
  public func notifications(
    highlightsOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> NotificationPage {
    try await perform(.notifications(highlightsOnly: highlightsOnly, limit: limit, from: from))
  }

  // MARK: Media

  /// Returns the size limit of an upload in bytes; nil if the server does not state one.
  public func uploadLimit() async throws(ClientError) -> Int64? { try await perform(.uploadLimit()) }

  /// Uploads a file.
  /// - Parameters:
  ///   - reserved: the reserved URI (`reserveMedia`); nil for a new one.
  ///   - progress: receives the number of sent bytes, in order, and finally the total.
  /// - Throws: `tooLarge` before anything is sent, `attachmentIsGone` if the file cannot be read.
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

  /// Returns a preview of a web page. The server fetches the page.
  public func preview(of url: String) async throws(ClientError) -> URLPreview {
    try await perform(.preview(of: ByteString(url)))
  }

  // MARK: What the account keeps

  /// Returns account data. The server refuses with `M_NOT_FOUND` if there is none of the type.
  public func accountData(_ type: EventType) async throws(ClientError) -> JSON {
    try await perform(.accountData(type, of: try ownUserID()))
  }

  /// Sets account data.
  /// - Parameter content: a JSON object.
  public func setAccountData(_ type: EventType, _ content: [UInt8]) async throws(ClientError) {
    try await perform(.account(.setAccountData(type, content: content)))
  }

  /// Stores a filter on the server and returns its ID.
  /// - Parameter filter: a JSON object.
  public func createFilter(_ filter: [UInt8]) async throws(ClientError) -> ByteString {
    try await perform(.createFilter(filter, of: try ownUserID()))
  }

  public func filter(_ id: ByteString) async throws(ClientError) -> JSON {
    try await perform(.filter(id, of: try ownUserID()))
  }

  /// Returns a page of the messages that match a search.
  public func search(_ search: MessageSearch, from: ByteString? = nil) async throws(ClientError) -> SearchPage {
    try await perform(.search(search, from: from))
  }
}
