/// The list of messages: renders only what is visible, keeps the reading position to the pixel, follows the end only when
/// the reader is there.
///
/// Append `root` to a container whose height is given. All changes go through `load` and `apply`, by row identity.
///
/// Layout: the scroller holds a content element as high as everything would be. In it stand, moved by transforms, the
/// head (spinner or beginning), the window (the rendered rows in normal flow) and the foot (who is typing). Heights of rows
/// that were never rendered are estimates; rendering measures them, and what was wrong is made good in the same frame, so that
/// the row the reader looks at (the anchor) does not move: by the scroll position, or while a person scrolls by where the page begins.
public final class Timeline<D: DOM> {
  public let dom: D
  /// The component's element. It fills its container.
  public let root: Node
  public let options: TimelineOptions

  /// Older rows are wanted. Called once, then not again before `endHeadFetch` (the lock).
  public var onNearStart: (() -> Void)?
  /// Newer rows are wanted. Called once, then not again before `endTailFetch`.
  public var onNearEnd: (() -> Void)?
  /// Draws what stands at the head or tail while rows are fetched, instead of the usual spinner.
  public var drawLoading: ((Node) -> Void)? {
    get { parts.drawLoading }
    set { parts.drawLoading = newValue }
  }
  /// A gap row in state `idle` came into view.
  public var onGapVisible: ((RowID) -> Void)?
  /// The rows in view changed. The host decides whether a person is looking (focus, visibility).
  public var onVisible: ((VisibleRows) -> Void)?
  /// A person acted. True says that the host did something; only `openLink` has a default of its own.
  public var onAction: ((TimelineAction) -> Bool)?
  /// Rows were chosen or given up; nil when choosing has ended.
  public var onSelection: ((RowSelection?) -> Void)?

  let parts: TimelineParts<D>
  let templates: RowTemplates<D>
  let filler: RowFiller<D>
  var store: RowStore
  var geometry = Geometry()
  var head = HeadState.hidden
  var tail = TailState.live
  var divider: RowID?
  var highlighted: RowID?
  /// Rows whose hidden text a person wanted to see.
  var revealed: [RowID] = []
  /// The sound that plays, or was played last.
  var playback: (row: RowID, part: Int, state: Playback)?
  /// The row, or something in it, that has the keyboard.
  var focusedRow: RowID?
  /// It has the focus by keys: letters mean it. Where a pointer gave it the focus, a person who types wants to write.
  var walkedRow: RowID?
  var focusedNode = Node.none

  /// The rendered rows, in the order of the page; they show the store's rows from `firstRendered` on.
  var rendered: [RowView] = []
  var firstRendered = 0
  /// Rendered rows to be measured.
  var fresh: [RowView] = []
  var pool = [[RowView]](repeating: [], count: RowKind.count)
  /// The store or what rows look like changed since the last reconciliation.
  var isDirty = false
  var layoutVersion: UInt32 = 0
  /// A person scrolls past all that is rendered: only what is in view is.
  var isFlung = false
  /// Rows go by faster than anybody reads: the page tells their day, and none is drawn.
  var isPassing = false
  /// How often something began to wait until nobody scrolls.
  var scrollCount: UInt32 = 0
  /// Rows that were appended for the reader to see come in moving.
  var entering: [RowID] = []
  var enteringMotion = RowMotion.rise
  /// Rows that are gone and still fade, and how often some went.
  var ghosts: [(view: RowView, y: Double)] = []
  var ghostCount: UInt32 = 0
  /// How often rows came from where they were: one motion can follow the other.
  var motionCount: UInt32 = 0
  /// What was in view when the present transaction began.
  var leaving: [SeenRow] = []
  var leavingSlides = false
  var burst = Burst()
  /// Puts rows in where they are not simply one after the other, and what is to be done before one goes (`use`).
  var placing: ((Timeline, [TimelineRow], Int, inout Transaction) -> Void)?
  var beforeRemoval: ((Timeline, Int) -> Void)?
  var tools: RowTools?
  /// While rows are chosen.
  public internal(set) var selection: RowSelection?
  private(set) var isClosed = false

  /// New messages of others that came while the reader was not at the end.
  public internal(set) var newMessageCount = 0
  /// Where the reader shall be once the component has a size (at first, and after it was not displayed).
  var pendingPosition: ReadingPosition?
  var reportedRows: VisibleRows?
  var askedGaps: [(id: RowID, version: UInt32)] = []

  public init(dom: D, options: TimelineOptions = TimelineOptions()) {
    self.dom = dom
    self.options = options
    parts = TimelineParts(dom, options.phrases)
    root = parts.root
    templates = RowTemplates(dom, options)
    filler = RowFiller(dom, options)
    store = RowStore(localDay: options.localDay)
    geometry.followDistance = options.followDistance
    listen()
  }

  // MARK: Reading

  public var count: Int { store.count }
  public func contains(_ id: RowID) -> Bool { store.index(of: id) != nil }
  public func row(_ id: RowID) -> TimelineRow? { store.index(of: id).map { store[$0].row } }

  /// The end of the last row is in view, and the timeline follows it.
  public var isAtEnd: Bool { geometry.follows }

  /// Nil when the reader is at the end.
  public var readingPosition: ReadingPosition? {
    guard !geometry.follows, store.count > 0 else { return nil }
    guard geometry.viewport > 0 else { return pendingPosition }
    let index = geometry.anchorRow()
    return ReadingPosition(row: store[index].row.id, offset: geometry.scrollTop - geometry.y(of: index))
  }

  // MARK: Changing

  /// Replaces everything, for example when another room is shown. No position shows the end;
  /// one at an unknown row too.
  public func load(
    _ rows: [TimelineRow], head: HeadState, at position: ReadingPosition? = nil, divider: RowID? = nil,
    tail: TailState = .live
  ) {
    dropGhosts()
    for view in rendered { drop(view) }
    rendered.removeAll(keepingCapacity: true)
    firstRendered = 0
    fresh.removeAll()
    entering.removeAll()
    askedGaps.removeAll()
    reportedRows = nil
    newMessageCount = 0
    self.divider = divider
    highlighted = nil
    revealed.removeAll()
    focusedRow = nil
    fill(rows)
    pruneSelection()
    var heights: [Float] = []
    heights.reserveCapacity(store.count)
    for index in 0..<store.count { heights.append(estimate(index)) }
    geometry.heights.replaceAll(heights)
    self.head = head
    parts.showHead(head, options.phrases)
    take(tail)
    var aim = Aim.end
    geometry.follows = geometry.hasEnd
    pendingPosition = geometry.viewport > 0 ? nil : position
    if let position, position.offset.isFinite, let index = store.index(of: position.row) {
      geometry.follows = false
      aim = .anchor(Anchor(index: index, screenY: -position.offset))
    }
    isDirty = true
    render(aim, mustScroll: true)
  }

  /// One step: all changes, one layout, the reading position kept as `mode` says.
  public func apply(_ changes: [RowChange], mode: TransactionMode = .natural, motion: RowMotion = .rise) {
    guard !changes.isEmpty else { return }
    var transaction = Transaction(candidates: anchorCandidates(), mode: mode, motion: motion)
    startMotion(&transaction)
    for change in changes { perform(change, &transaction) }
    finish(transaction)
  }

  /// Ends the fetch that `onNearStart` began: puts `rows` at the start and says what is above them now. Does nothing
  /// when no fetch is running.
  public func endHeadFetch(_ rows: [TimelineRow], head: HeadState) {
    guard self.head == .more(.loading) else { return }
    var transaction = Transaction(candidates: anchorCandidates())
    self.head = head
    parts.showHead(head, options.phrases)
    perform(.prepend(rows), &transaction)
    finish(transaction)
  }

  /// The same for the fetch that `onNearEnd` began. What comes is no news: the reader stays where they are.
  public func endTailFetch(_ rows: [TimelineRow], tail: TailState) {
    guard self.tail == .more(.loading) else { return }
    var transaction = Transaction(candidates: anchorCandidates(), mode: .keepStable, motion: .none)
    take(tail)
    put(rows, at: newestEdge, &transaction)
    finish(transaction)
  }

  public func setTail(_ tail: TailState) {
    guard tail != self.tail else { return }
    let candidates = anchorCandidates()
    take(tail)
    finish(Transaction(candidates: candidates))
  }

  func take(_ tail: TailState) {
    guard tail != self.tail else { return }
    self.tail = tail
    if case .more = tail { geometry.hasEnd = false } else { geometry.hasEnd = true }
    if !geometry.hasEnd { geometry.follows = false }
    parts.showTail(tail, options.phrases)
  }

  public func setHead(_ head: HeadState) {
    guard head != self.head else { return }
    let candidates = anchorCandidates()
    self.head = head
    parts.showHead(head, options.phrases)
    finish(Transaction(candidates: candidates))
  }

  /// The row above which the "new messages" divider is drawn; nil takes it away.
  public func setDivider(above row: RowID?) {
    guard row != divider else { return }
    let candidates = anchorCandidates()
    divider = row
    finish(Transaction(candidates: candidates))
  }

  /// Who is typing; the rows are always last.
  public func setTyping(_ members: [TypingMember]) {
    let candidates = anchorCandidates()
    let fades = options.after != nil && geometry.viewport > 0
    if parts.showTyping(members, options.phrases, fades: fades) { endGhosts() }
    finish(Transaction(candidates: candidates))
  }

  /// Ends the timeline: its elements and listeners are released. Until then the page keeps it alive.
  public func close() {
    dropGhosts()
    isClosed = true
    if let tools, tools.row == .none { dom.release(tools.node) }
    dom.release(root)
    for views in pool {
      for view in views { dom.release(view.node) }
    }
    pool = [[RowView]](repeating: [], count: RowKind.count)
    rendered.removeAll()
    fresh.removeAll()
    geometry.viewport = 0
    dom.flush()
  }

  // MARK: Moving

  /// To the latest row; where newer rows exist that are not here, to the last one that is.
  public func scrollToEnd() {
    geometry.follows = geometry.hasEnd
    pendingPosition = nil
    newMessageCount = 0
    render(.end, mustScroll: true)
  }

  /// False for an unknown row.
  @discardableResult
  public func scroll(to row: RowID, place: RowPlace = .centre, highlight: Bool = false) -> Bool {
    guard let index = store.index(of: row) else { return false }
    guard geometry.viewport > 0 else {
      geometry.follows = false
      pendingPosition = ReadingPosition(row: row, offset: 0)
      return true
    }
    if highlight {
      highlighted = row
      isDirty = true
    }
    geometry.follows = false
    // The row must be measured before its place can be exact: once to render it, once to place it.
    for _ in 0..<2 {
      let room = geometry.viewport - Double(geometry.heights.heights[index])
      let screenY =
        switch place {
        case .top: 0.0
        case .centre: max(0, room / 2)
        case .bottom: room
        }
      render(.anchor(Anchor(index: index, screenY: screenY)), mustScroll: true)
    }
    geometry.follows = geometry.isNearEnd
    return true
  }

  func estimate(_ index: Int) -> Float {
    RowEstimate.height(store[index].row, decor(index), width: geometry.width)
  }

  func decor(_ index: Int) -> Decor {
    var decor = store.decor(
      at: index, divider: divider, groupingMilliseconds: options.groupingMilliseconds, avatars: options.avatars)
    if store.toldIndex(newestIsFirst: geometry.newestIsFirst) == index { decor.insert(.told) }
    if selection != nil { decor.formUnion(selectionDecor(index)) }
    return decor
  }
}
