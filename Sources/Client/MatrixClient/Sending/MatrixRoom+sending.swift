public import ClientCore
import JSON
public import MatrixModel

/// Functions to send. They put messages into the outbox and return. The client sends the outbox in order, even after a restart if the store
/// is a file. `Sending.sent()` returns when the server has the message.
extension MatrixRoom {
  /// Sends a text.
  /// - Throws: `invalidContent` if the text is empty.
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

  /// Sends an event of any type.
  /// - Parameter content: a JSON object, which is sent unchanged.
  @discardableResult
  public func send(_ type: EventType, _ content: [UInt8]) async throws(ClientError) -> Sending {
    try await send(.custom(type, content: content))
  }

  /// Replies to a message.
  /// - Parameter user: the sender of that message, if the reply must notify that user.
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

  /// Sends a file and waits until the server has it.
  /// - Parameters:
  ///   - kind: the kind of message; nil for the kind that matches the MIME type.
  ///   - progress: receives the number of sent bytes, in order, and finally the total.
  /// - Throws: `attachmentIsGone` if the file cannot be read, `tooLarge`. If the task is cancelled, the file is not sent.
  @discardableResult
  public func sendFile(
    _ path: String, mimeType: String, as kind: MessageContent.Kind? = nil, caption: String? = nil,
    progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> EventID {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return try await sendFile(at: path, name, mimeType, kind, caption, progress)
  }

  /// Sends bytes as a file, and waits until the server has them. They are in the folder of temporary files meanwhile.
  /// - Parameter name: the file name that others see, without a path.
  /// - Throws: the same errors as with a path; `attachmentIsGone` also if there is no space for the temporary file.
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

  /// Replaces the text of a message, or the caption of a file.
  /// - Throws: `notAllowed` for messages of other users.
  public func edit(_ target: SendTarget, _ text: String) async throws(ClientError) {
    try await client.perform(.sending(.edit(id, target, FormattedText(ByteString(text)))))
  }

  /// Adds the user's reaction with a key, or removes it.
  public func toggleReaction(_ key: String, to target: SendTarget) async throws(ClientError) {
    try await client.perform(.sending(.toggleReaction(id, target, key: ByteString(key))))
  }

  /// Redacts an event. Returns when the server has done it.
  /// - Parameter relations: the related events to redact too, see `SendingCommand.redact`.
  public func redact(
    _ target: SendTarget, reason: String? = nil, with relations: [ByteString] = []
  ) async throws(ClientError) {
    try await client.perform(
      .sending(.redact(id, target, reason: reason.map { ByteString($0) }, relationTypes: relations)))
  }

  public func vote(_ answers: [ByteString], in poll: SendTarget) async throws(ClientError) {
    try await client.perform(.sending(.vote(id, poll: poll, answers: answers)))
  }

  /// Ends a poll.
  /// - Parameter text: the text for clients that do not support polls.
  public func endPoll(_ poll: SendTarget, text: String) async throws(ClientError) {
    try await client.perform(.sending(.endPoll(id, poll: poll, text: ByteString(text))))
  }

  /// Pins an event.
  /// - Throws: `notAllowed`, without asking the server if the client knows it.
  public func pin(_ event: EventID) async throws(ClientError) { try await client.perform(.sending(.pin(id, event))) }
  public func unpin(_ event: EventID) async throws(ClientError) { try await client.perform(.sending(.unpin(id, event))) }

  // MARK: Drafts

  /// Sets the text of the composer; empty for none. Also sends typing notifications.
  public func setDraft(_ text: String) async throws(ClientError) {
    try await client.setDraft(ByteString(text), in: id)
  }

  /// Turns sending to this room on or off.
  /// - Parameter isOn: while false, messages to this room wait in the outbox.
  public func setSending(_ isOn: Bool) async throws(ClientError) {
    try await client.perform(.sending(.setSending(id, isEnabled: isOn)))
  }
}

extension MatrixClient {
  /// Cancels a message for which no caller waits any more, even if the task is cancelled.
  func giveUp(_ sending: Sending) { handle(.command(.sending(.cancel(sending.room.id, sending.target)), id: 0)) }

  /// Replaces the text of the room's draft in one turn of the actor.
  func setDraft(_ text: ByteString, in room: RoomID) async throws(ClientError) {
    try await perform(.sending(.setDraft(room, core.room(room)?.draft(saying: text) ?? Draft(text))))
  }
}
