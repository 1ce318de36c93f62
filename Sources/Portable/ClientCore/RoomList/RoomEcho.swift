import JSON
import MatrixModel

/// What the outbox has of a room, for its line in the list.
struct RoomEcho: Sendable {
  /// None or one, out of line: most rooms have none, and rooms are copied.
  private var messages: [RoomPreview] = []
  /// The last message that is on its way or could not be sent; nil if there is no such message.
  var message: RoomPreview? {
    get { messages.first }
    set { messages = newValue.map { [$0] } ?? [] }
  }
  /// Whether anything could not be sent.
  var hasFailed = false
}

extension Room {
  /// The last message, own ones on their way and such that could not be sent among them (`RoomPreview.delivery`); nil where none is known.
  public var preview: RoomPreview? {
    let received = hidesPreview ? nil : state.preview
    guard let message = echo.message else { return received }
    // What failed long ago is not the last word.
    if case .failed = message.delivery, let newest = received,
      newest.timestampMilliseconds > message.timestampMilliseconds
    {
      return newest
    }
    return message
  }

  /// Milliseconds since 1970 of the last message or of the invitation; 0 where unknown.
  public var lastActivityMilliseconds: Int64 { max(state.lastActivity, echo.message?.timestampMilliseconds ?? 0) }

  /// Whether there are messages, or anything else, that could not be sent.
  public var hasUnsent: Bool { echo.hasFailed }
}

extension Client {
  /// The lines of the rooms whose outbox has changed.
  mutating func settleEchoes() {
    guard !roomLists.sending.isEmpty, let user = session?.userID else { return }
    for id in roomLists.sending.ordered() {
      guard let old = rooms[id]?.echo else { continue }
      let new = outbox.echo(in: id, sender: user)
      rooms[id]?.echo = new
      if !new.shows(as: old) { notify(.room(id, .preview)) }
    }
    roomLists.sending = []
  }
}

extension Outbox {
  func echo(in room: RoomID, sender: UserID) -> RoomEcho {
    var echo = RoomEcho()
    for entry in entries.reversed() where entry.roomID == room {
      if entry.isFailed { echo.hasFailed = true }
      guard echo.message == nil, let item = entry.item(sender: sender), case .message(let message) = item.content else {
        continue
      }
      echo.message = RoomPreview(
        eventID: item.eventID, sender: sender, timestampMilliseconds: entry.createdAt, content: message)
      echo.message?.delivery = entry.delivery
    }
    return echo
  }
}

extension RoomEcho {
  fileprivate func shows(as other: RoomEcho) -> Bool {
    guard hasFailed == other.hasFailed else { return false }
    switch (message, other.message) {
    case (nil, nil): return true
    case (let a?, let b?):
      return a.timestampMilliseconds == b.timestampMilliseconds && a.eventID == b.eventID
        && a.content?.body == b.content?.body && a.delivery.step == b.delivery.step
    default: return false
    }
  }
}

extension Delivery {
  /// Which it is; how far an upload has come is the timeline's affair.
  fileprivate var step: UInt8 {
    switch self {
    case .received: 0
    case .queued: 1
    case .held: 2
    case .uploading: 3
    case .sending: 4
    case .sent: 5
    case .failed: 6
    }
  }
}
