public import ClientCore
import JSON
public import MatrixModel

/// Writing. What is written goes into the outbox and out in order, also after a restart where the store keeps it; the verbs end when it
/// is there, and `Sending.sent()` when the server has it.
extension MatrixRoom {
  /// - Throws: `invalidContent` for an empty text.
  @discardableResult
  public func send(_ text: String) async throws(ClientError) -> Sending { try await client.send(text, to: id) }

  @discardableResult
  public func send(_ message: OutgoingMessage) async throws(ClientError) -> Sending {
    try await client.send(message, to: id)
  }

  @discardableResult
  public func send(markdown: String) async throws(ClientError) -> Sending {
    try await send(.message(.markdown(ByteString(markdown))))
  }

  /// Any event.
  /// - Parameter content: a JSON object, sent as it is.
  @discardableResult
  public func send(_ type: EventType, _ content: [UInt8]) async throws(ClientError) -> Sending {
    try await send(.custom(type, content: content))
  }

  /// - Parameter user: the sender of what it answers, where that person is to be told.
  @discardableResult
  public func reply(
    _ text: String, to target: SendTarget, mentioning user: UserID? = nil
  ) async throws(ClientError) -> Sending {
    try await send(.text(ByteString(text)).replying(to: target, mentioning: user))
  }

  @discardableResult
  public func send(_ text: String, inThread root: EventID) async throws(ClientError) -> Sending {
    try await send(.text(ByteString(text)).inThread(.event(root)))
  }

  // MARK: Files

  /// Sends a file and waits until the server has all of it.
  /// - Parameters:
  ///   - kind: nil for the one that the type says.
  ///   - progress: in bytes, in order, at the end with the total.
  /// - Throws: `attachmentIsGone` where it cannot be read, `tooLarge`; where the task is cancelled the file is not sent.
  @discardableResult
  public func sendFile(
    _ path: String, mimeType: String, as kind: MessageContent.Kind? = nil, caption: String? = nil,
    progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> EventID {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return try await sendFile(at: path, name, mimeType, kind, caption, progress)
  }

  /// Sends bytes as a file, and waits until the server has all of them. They lie in the folder of temporary files meanwhile.
  /// - Parameter name: that others see, with no path.
  /// - Throws: as the other; `attachmentIsGone` where there is no room for the temporary file.
  @discardableResult
  public func sendFile(
    _ bytes: [UInt8], named name: String, mimeType: String, as kind: MessageContent.Kind? = nil, caption: String? = nil,
    progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> EventID {
    guard let file = TemporaryFile(bytes) else { throw .attachmentIsGone }
    defer { file.remove() }
    return try await sendFile(at: file.path, name, mimeType, kind, caption, progress, staysThere: false)
  }

  private func sendFile(
    at path: String, _ name: String, _ mimeType: String, _ kind: MessageContent.Kind?, _ caption: String?,
    _ progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)?, staysThere: Bool = true
  ) async throws(ClientError) -> EventID {
    guard let size = FileSize.bytes(of: path) else { throw .attachmentIsGone }
    let attachment = Attachment(
      fileName: ByteString(name), blob: BlobHandle(ByteString(path)), mimeType: ByteString(mimeType), sizeBytes: size)
    let media = OutgoingMedia(
      kind ?? Self.kind(of: mimeType), attachment, caption: caption.map { FormattedText(ByteString($0)) })
    let sending = try await send(.media(media))
    do throws(ClientError) { return try await sending.sent(progress: progress) } catch {
      // A message that failed waits to be sent again, which needs the file.
      if Task.isCancelled || !staysThere { await client.giveUp(sending) }
      throw error
    }
  }

  private static func kind(of mimeType: String) -> MessageContent.Kind {
    switch mimeType.prefix(while: { $0 != "/" }) {
    case "image": .image
    case "video": .video
    case "audio": .audio
    default: .file
    }
  }

  // MARK: What was said

  /// New text, or a new caption where the target is a file.
  /// - Throws: `notAllowed` for messages of others.
  public func edit(_ target: SendTarget, _ text: String) async throws(ClientError) {
    try await client.perform(.sending(.edit(id, target, FormattedText(ByteString(text)))))
  }

  /// Reacts, or takes the own reaction of that kind back.
  public func toggleReaction(_ key: String, to target: SendTarget) async throws(ClientError) {
    try await client.perform(.sending(.toggleReaction(id, target, key: ByteString(key))))
  }

  /// Removes the content; ends when the server has done it.
  /// - Parameter relations: related events that go with it, see `SendingCommand.redact`.
  public func redact(
    _ target: SendTarget, reason: String? = nil, with relations: [ByteString] = []
  ) async throws(ClientError) {
    try await client.perform(
      .sending(.redact(id, target, reason: reason.map { ByteString($0) }, relationTypes: relations)))
  }

  public func vote(_ answers: [ByteString], in poll: SendTarget) async throws(ClientError) {
    try await client.perform(.sending(.vote(id, poll: poll, answers: answers)))
  }

  /// - Parameter text: what clients show that do not know polls.
  public func endPoll(_ poll: SendTarget, text: String) async throws(ClientError) {
    try await client.perform(.sending(.endPoll(id, poll: poll, text: ByteString(text))))
  }

  /// - Throws: `notAllowed`, without asking the server where that is known.
  public func pin(_ event: EventID) async throws(ClientError) { try await client.perform(.sending(.pin(id, event))) }
  public func unpin(_ event: EventID) async throws(ClientError) { try await client.perform(.sending(.unpin(id, event))) }

  // MARK: Drafts

  /// What the composer holds; empty for none. Also tells the others that the user is writing.
  public func setDraft(_ text: String) async throws(ClientError) {
    try await client.setDraft(ByteString(text), in: id)
  }

  /// - Parameter isOn: while off, messages to this room wait.
  public func setSending(_ isOn: Bool) async throws(ClientError) {
    try await client.perform(.sending(.setSending(id, isEnabled: isOn)))
  }
}

extension MatrixClient {
  /// Cancels a message that no caller waits for any more, whether the task goes on or not.
  func giveUp(_ sending: Sending) { handle(.command(.sending(.cancel(sending.room.id, sending.target)), id: 0)) }

  /// Replaces the text of the room's draft in one turn of the actor.
  func setDraft(_ text: ByteString, in room: RoomID) async throws(ClientError) {
    try await perform(.sending(.setDraft(room, core.room(room)?.draft(saying: text) ?? Draft(text))))
  }
}
