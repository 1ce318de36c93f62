/// A row that a host added, to be changed later. It stays valid as a value when the row is gone: then it does nothing.
public struct RowHandle: Hashable, Sendable {
  public let id: RowID
  public init(_ id: RowID) { self.id = id }
}

/// A typing row that a host added.
public struct TypingHandle: Hashable, Sendable {
  let number: UInt64
}

/// A row that is about to be added.
public struct NewRow {
  public var content: TimelineRow.Content
  /// Milliseconds since 1970, UTC; nil is now.
  public var timestampMilliseconds: Int64?
  /// nil lets the messenger choose one.
  public var id: RowID?

  public init(_ content: TimelineRow.Content, timestampMilliseconds: Int64? = nil, id: RowID? = nil) {
    self.content = content
    self.timestampMilliseconds = timestampMilliseconds
    self.id = id
  }

  public static func message(_ message: MessageRow) -> NewRow { NewRow(.message(message)) }
  public static func text(_ text: String, from sender: Sender) -> NewRow {
    NewRow(.message(MessageRow(sender: sender, body: .text(text))))
  }
}

/// Whether adding rows moves the reader.
public enum AddScroll: UInt8, Sendable {
  /// Messages: the reader stays at the end when they are there; own messages take them there. Other rows: no.
  case automatic
  case toEnd
  case stay
}

/// Where rows are put.
public enum AddPlace: Sendable {
  case end, start
  case before(RowHandle)
  case after(RowHandle)
}
