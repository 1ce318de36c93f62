/// What a person does with a row.
public enum TimelineAction {
  /// Send a failed message again.
  case retry(RowID)
  /// Give up a message or an upload that is not sent.
  case cancel(RowID)
  case openImage(RowID)
  case openFile(RowID)
  /// A link in a text; unhandled, the browser opens it in a new tab.
  case openLink(RowID, url: String)
  case openSender(RowID)
  /// Try again to fill a gap.
  case retryGap(RowID)
  /// Try again to fetch older rows.
  case retryHead
  /// The context menu of a row was asked for, at a point of the window in pixels.
  case menu(RowID, x: Double, y: Double)
}

/// The rows a reader really sees: at least half of the row, or half of the viewport for taller ones.
public struct VisibleRows: Equatable, Sendable {
  public var first: RowID
  public var last: RowID
  /// The end of the last row is in view.
  public var isAtEnd: Bool
}

/// Where a reader was: which row, and how many pixels of it lie above the viewport's top (negative: the row is below it).
public struct ReadingPosition: Equatable, Sendable {
  public var row: RowID
  public var offset: Double
  public init(row: RowID, offset: Double) {
    self.row = row
    self.offset = offset
  }
}

/// Where a row shall come to stand.
public enum RowPlace: Sendable {
  case top, centre, bottom
}

/// Someone who is writing right now.
public struct TypingMember: Sendable {
  public var sender: Sender
  public init(_ sender: Sender) { self.sender = sender }
}
