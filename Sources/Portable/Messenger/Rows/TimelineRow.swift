/// Who a row is, for as long as it exists: a local echo and the event it becomes are one row. The host chooses the numbers.
public struct RowID: Hashable, Sendable {
  public let rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// One row of the timeline. Date separators and the "new messages" divider are not rows: the timeline draws them above
/// the row they belong to.
public struct TimelineRow: Sendable {
  public enum Content: Sendable {
    case message(MessageRow)
    /// A quiet centred line: someone joined, the name of the room changed.
    case line(String)
    /// Several quiet lines in one, which can be opened and closed: the lines themselves are rows of the host's.
    case fold(String, isOpen: Bool)
    /// A quiet line with a button for what can be done about it: `TimelineAction.toggleFold`.
    case offer(String, button: String)
    /// Messages are missing here.
    case gap(FetchState)
  }

  public var id: RowID
  /// `origin_server_ts`: milliseconds since 1970, UTC.
  public var timestampMilliseconds: Int64
  public var content: Content

  public init(id: RowID, timestampMilliseconds: Int64, content: Content) {
    self.id = id
    self.timestampMilliseconds = timestampMilliseconds
    self.content = content
  }
}

/// How far the fetching of missing rows has come.
public enum FetchState: Equatable, Sendable {
  /// There is more; nobody asked yet.
  case idle
  case loading
  /// The last try failed; the row offers another.
  case failed
  /// There is more, and only the reader asks for it, by the row's button.
  case onDemand
}

/// What is above the first row.
public enum HeadState: Equatable, Sendable {
  /// Older rows may exist: `onNearStart` asks for them when the reader comes near.
  case more(FetchState)
  /// The first row is the beginning of the conversation.
  case start
  /// Nothing is shown and nothing asked for.
  case hidden
}

/// What is below the last row.
public enum TailState: Equatable, Sendable {
  /// The last row is the latest there is; the timeline follows what comes.
  case live
  /// Newer rows exist that are not here: `onNearEnd` asks for them when the reader comes near. The last row is not the end.
  case more(FetchState)
  /// The last row is the latest there is, and the timeline says so.
  case end
}

/// A step of a transaction. Identities the timeline does not know make a step do nothing; a row whose identity is already
/// there is replaced in place instead of being added twice.
public enum RowChange: Sendable {
  case append([TimelineRow])
  case prepend([TimelineRow])
  case insert([TimelineRow], before: RowID)
  case insertAfter([TimelineRow], after: RowID)
  /// New content for the row of the same identity, in its place.
  case update(TimelineRow)
  /// The same, for who knows only the content: the row keeps its time.
  case updateContent(RowID, TimelineRow.Content)
  /// Another row in the place of the old one.
  case replace(RowID, with: TimelineRow)
  case remove(RowID)
}
