import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Turns items of the client's timeline into rows of the messenger. Rows of one author share one `Sender`.
final class RowMaker<D: DOM> {
  /// Pictures up to this many bytes are loaded as they are; of larger ones a smaller version is asked for.
  private static var wholePictureBytes: Int64 { 300_000 }

  private let app: App<D>
  private var senders: [UserID: Sender] = [:]

  init(_ app: App<D>) { self.app = app }

  func forgetSenders() { senders = [:] }
  func forget(_ users: [UserID]) { for user in users { senders[user] = nil } }

  func sender(_ user: UserID, in room: Room) -> Sender {
    if let known = senders[user] { return known }
    let sender = Sender(
      id: user.string, name: room.displayName(of: user).string, avatar: app.avatarSource(room.avatar(of: user)),
      isOwn: user == app.userID)
    senders[user] = sender
    return sender
  }

  /// - Parameter unread: how many members have not read it.
  func row(_ item: TimelineItem, in room: Room, unread: Int) -> TimelineRow {
    TimelineRow(
      id: RowID(item.id), timestampMilliseconds: item.timestampMilliseconds, content: content(item, room, unread))
  }

  private func content(_ item: TimelineItem, _ room: Room, _ unread: Int) -> TimelineRow.Content {
    switch item.content {
    case .gap(let state):
      switch state {
      case .idle: return .gap(.idle)
      case .loading: return .gap(.loading)
      case .failed: return .gap(.failed)
      }
    case .state(let change):
      return .line(
        Strings.words(for: change, by: room.displayName(of: item.sender).string) { room.displayName(of: $0).string })
    case .message(let message): return .message(row(item, room, body(message, item), unread))
    case .redacted: return .message(row(item, room, .redacted, unread))
    case .undecryptable: return .message(row(item, room, .undecryptable, unread))
    case .custom(_, let text): return .message(row(item, room, .unsupported(text?.string ?? ""), unread))
    case .unparsable: return .message(row(item, room, .unsupported(""), unread))
    }
  }

  private func row(_ item: TimelineItem, _ room: Room, _ body: MessageRow.Body, _ unread: Int) -> MessageRow {
    MessageRow(
      sender: sender(item.sender, in: room), body: body, sendState: sendState(item.delivery), isEdited: item.isEdited,
      unreadMembers: max(0, unread))
  }

  private func sendState(_ delivery: Delivery) -> SendState {
    switch delivery {
    case .received, .sent: .sent
    case .queued, .held: .queued
    case .uploading, .sending: .sending
    case .failed: .failed
    }
  }

  // MARK: Bodies

  private func body(_ message: MessageContent, _ item: TimelineItem) -> MessageRow.Body {
    switch message.kind {
    case .text: return .text(message.body.string)
    case .emote: return .emote(message.body.string)
    case .notice: return .notice(message.body.string)
    case .location, .gallery, .poll, .liveLocation, .unknown: return .unsupported(message.body.string)
    case .image, .sticker:
      guard let file = message.attachment, file.source != nil || file.blob != nil else {
        return .unsupported(message.body.string)
      }
      return image(message, file, item)
    case .video, .audio, .voice, .file:
      guard let file = message.attachment else { return .unsupported(message.body.string) }
      return .file(FileBody(name: file.fileName.string, detail: detail(file), uploadProgress: progress(file, item.delivery)))
    }
  }

  private func image(_ message: MessageContent, _ file: Attachment, _ item: TimelineItem) -> MessageRow.Body {
    let image = ImageBody(
      name: file.fileName.string, thumbnail: source(file), width: Int(clamping: file.width ?? 0),
      height: Int(clamping: file.height ?? 0), uploadProgress: progress(file, item.delivery))
    if message.kind == .sticker { return .parts([.sticker(image)]) }
    return message.body == file.fileName ? .image(image) : .parts([.image(image), .text(message.body.string)])
  }

  /// Own pictures show from the file at hand, also after the server has them.
  private func source(_ file: Attachment) -> String? {
    if let blob = file.blob, let url = app.effects.blobs.url(blob) { return url }
    guard let uri = file.source else { return nil }
    if let size = file.sizeBytes, size <= RowMaker.wholePictureBytes { return app.mediaSource(uri) }
    return app.thumbnailSource(file.thumbnail ?? uri)
  }

  private func progress(_ file: Attachment, _ delivery: Delivery) -> Double? {
    switch delivery {
    case .uploading(let sent, let total): return total > 0 ? Double(sent) / Double(total) : 0
    case .queued, .held: return file.source == nil ? 0 : nil
    case .received, .sending, .sent, .failed: return nil
    }
  }

  private func detail(_ file: Attachment) -> String {
    let size = file.sizeBytes.map { Host.byteCountLabel($0) } ?? ""
    let type = file.mimeType?.string ?? ""
    return size.utf8.isEmpty || type.utf8.isEmpty ? size + type : size + " · " + type
  }
}
