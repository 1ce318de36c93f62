/// The list of messages: renders only what is visible, keeps the reading position to the pixel, follows the end only when
/// the reader is there.
///
/// Append `root` to a container whose height is given. All changes go through `load` and `apply`, by row identity.
public final class Timeline<D: DOM> {
  public let dom: D
  /// The component's element. It fills its container.
  public let root: Node
  public let options: TimelineOptions

  /// Older rows are wanted. Called once, then not again before `endHeadFetch` (the lock).
  public var onNearStart: (() -> Void)?
  /// A gap row in state `idle` came into view.
  public var onGapVisible: ((RowID) -> Void)?
  /// The rows in view changed. The host decides whether a person is looking (focus, visibility).
  public var onVisible: ((VisibleRows) -> Void)?
  /// A person acted. True says that the host did something; only `openLink` has a default of its own.
  public var onAction: ((TimelineAction) -> Bool)?

  public init(dom: D, options: TimelineOptions = TimelineOptions()) {
    self.dom = dom
    self.options = options
    root = dom.element("section", "mg-timeline")
  }

  public var count: Int { 0 }
  public func contains(_ id: RowID) -> Bool { false }
  public func row(_ id: RowID) -> TimelineRow? { nil }

  /// Replaces everything, for example when another room is shown. Nil shows the end; an unknown row too.
  public func load(_ rows: [TimelineRow], head: HeadState, at position: ReadingPosition? = nil) {}
  /// One step: all changes, one layout, the reading position kept.
  public func apply(_ changes: [RowChange]) {}
  /// Ends the fetch that `onNearStart` began: puts `rows` at the start and says what is above them now. Does nothing
  /// when no fetch is running.
  public func endHeadFetch(_ rows: [TimelineRow], head: HeadState) {}
  public func setHead(_ head: HeadState) {}
  /// The row above which the "new messages" divider is drawn; nil takes it away.
  public func setDivider(above row: RowID?) {}
  /// Who is typing; the rows are always last.
  public func setTyping(_ members: [TypingMember]) {}
  /// Nil when the reader is at the end.
  public var readingPosition: ReadingPosition? { nil }
  public var isAtEnd: Bool { true }
  /// New rows that came while the reader was not at the end.
  public var newMessageCount: Int { 0 }
  public func scrollToEnd() {}
  /// False for an unknown row.
  @discardableResult public func scroll(to row: RowID, place: RowPlace = .centre, highlight: Bool = false) -> Bool { false }
}
