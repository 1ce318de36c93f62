/// A conversation that needs no data source: rows are added and changed by handles, in the order of the calls.
///
/// Every call that changes something waits in line behind those before it, also when it comes from within a callback; its completion
/// is called once the page shows the change. Handles nobody knows do nothing, and the completion is called all the same.
///
/// ```swift
/// let view = MessengerView(dom: dom)
/// let row = view.add(.text("hello", from: alice))
/// view.update(row, .message(MessageRow(sender: alice, body: .text("hello!"))))
/// ```
public final class MessengerView<D: DOM> {
  public let dom: D
  /// The element of the list and the composer. It fills its container.
  public let root: Node
  public let timeline: Timeline<D>
  public let composer: ComposerFace

  /// Older rows are wanted; end it by `endOlder`. Setting it turns the prefetch on.
  public var onNeedOlder: (() -> Void)? {
    didSet { enqueue { $0.timeline.setHead($0.onNeedOlder == nil ? .hidden : .more(.idle)) } }
  }
  /// Newer rows are wanted; end it by `endNewer`.
  public var onNeedNewer: (() -> Void)?
  /// More rows than this do not stay: those farthest from the reader are let go, down to four fifths of it, where they can be fetched again
  /// (`onNeedOlder`, `onNeedNewer`). Handles of rows that went are unknown. nil keeps all.
  public var rowsLimit: Int? { didSet { enqueue { $0.trim() } } }
  /// What a person did with a row. True says that the host did something.
  public var onAction: ((TimelineAction) -> Bool)?
  /// Told of each try of something, and how it ended.
  public var onMeasure: ((Measure) -> Void)?

  /// What is written in the composer; true takes it.
  public var onSubmit: ((String) -> Bool)? {
    get { submission.run }
    set { submission.run = newValue }
  }

  /// The composer is made before the view is there to be called.
  private final class Submission {
    var run: ((String) -> Bool)?
    var submit: (String) -> Bool = { _ in false }
  }
  private let submission: Submission
  private let now: () -> Int64
  private var nextID: UInt64
  private var nextTyping: UInt64 = 0
  var typing: [(handle: TypingHandle, member: TypingMember)] = []
  private var line: [(MessengerView) -> Void] = []
  private var isWorking = false
  private(set) var isClosed = false
  /// The newest rows were let go.
  var isBehind = false
  /// What the present transaction collects; nil outside of one.
  private var collected: (empties: Bool, changes: [RowChange], completions: [() -> Void])?

  /// - Parameters:
  ///   - now: milliseconds since 1970, for rows without a time.
  ///   - firstID: identities from here on are given to rows without one; the host's own must be smaller.
  ///   - composer: makes what messages are written in; nil shows none.
  public init(
    dom: D, options: TimelineOptions = TimelineOptions(), now: @escaping () -> Int64 = { 0 }, firstID: UInt64 = 1 << 48,
    composer: ComposerMaker? = nil
  ) {
    self.dom = dom
    self.now = now
    nextID = firstID
    let newestIsFirst = options.policy.contains(.newestFirst)
    root = dom.element("div", newestIsFirst ? "mg-messenger mg-newest-first" : "mg-messenger")
    timeline = Timeline(dom: dom, options: options)
    if !options.policy.isEmpty { timeline.use(options.policy) }
    let box = dom.element("div", "mg-messenger-list", in: root)
    dom.append(timeline.root, to: box)
    let submission = Submission()
    self.submission = submission
    self.composer = composer?(dom) { submission.submit($0) } ?? .absent
    if self.composer.root != .none {
      dom.append(self.composer.root, to: root)
      // One writes where the new rows are.
      if newestIsFirst { dom.insert(self.composer.root, into: root, before: box) }
    }
    timeline.load([], head: .hidden)
    submission.submit = { [self] text in submit(text) }
    timeline.onAction = { [self] action in measured(.act) { perform(action) } }
    timeline.onNearStart = { [self] in needOlder() }
    timeline.onNearEnd = { [self] in needNewer() }
  }

  // MARK: Submitting

  /// Submits a text as if it was written in the composer. Returns false if the host refused it.
  @discardableResult
  public func submit(_ text: String) -> Bool { measured(.send) { onSubmit?(text) ?? false } }

  // MARK: Changing

  @discardableResult
  public func add(
    _ row: NewRow, at place: AddPlace = .end, motion: RowMotion? = nil, scroll: AddScroll = .automatic,
    then: (() -> Void)? = nil
  ) -> RowHandle {
    add([row], at: place, motion: motion, scroll: scroll, then: then)[0]
  }

  /// Adds rows in this order, in one step. Nothing comes of places that are not known.
  @discardableResult
  public func add(
    _ rows: [NewRow], at place: AddPlace = .end, motion: RowMotion? = nil, scroll: AddScroll = .automatic,
    then: (() -> Void)? = nil
  ) -> [RowHandle] {
    let made = rows.map { self.row($0) }
    change(add(made, place), motion: motion ?? defaultMotion(rows), scroll: scroll, then)
    return made.map { RowHandle($0.id) }
  }

  /// New content for the row, in its place.
  public func update(_ handle: RowHandle, _ content: TimelineRow.Content, then: (() -> Void)? = nil) {
    change([.updateContent(handle.id, content)], motion: .rise, scroll: .automatic, then)
  }

  /// Another row in the place of this one; in a group, the group and its avatar come along.
  @discardableResult
  public func replace(
    _ handle: RowHandle, with row: NewRow, motion: RowMotion = .fade, then: (() -> Void)? = nil
  ) -> RowHandle {
    let new = self.row(row)
    change([.replace(handle.id, with: new)], motion: motion, scroll: .stay, then)
    return RowHandle(new.id)
  }

  public func remove(_ handles: [RowHandle], motion: RowMotion = .slide, then: (() -> Void)? = nil) {
    change(handles.map { .remove($0.id) }, motion: motion, scroll: .stay, then)
  }

  public func remove(_ handle: RowHandle, motion: RowMotion = .slide, then: (() -> Void)? = nil) {
    remove([handle], motion: motion, then: then)
  }

  /// All rows that `body` adds, updates, replaces and removes are one step, with one layout, in the order of the calls; `clear` may be among them.
  /// Whatever else it asks for is done before.
  public func transaction(_ mode: TransactionMode = .natural, _ body: (MessengerView) -> Void, then: (() -> Void)? = nil) {
    guard collected == nil else {
      body(self)
      then?()
      return
    }
    collected = (false, [], [])
    body(self)
    guard let (empties, changes, completions) = collected else { return }
    collected = nil
    enqueue({
      for completion in completions { completion() }
      then?()
    }) { view in
      if empties { view.empty() }
      view.timeline.apply(view.placed(changes), mode: mode, motion: .rise)
      view.trim()
    }
  }

  /// Takes all rows away, those of people who type too.
  public func clear(then: (() -> Void)? = nil) {
    guard collected == nil else {
      // What was to come before is gone as well.
      collected?.empties = true
      collected?.changes = []
      if let then { collected?.completions.append(then) }
      return
    }
    enqueue(then) { $0.empty() }
  }

  // MARK: Asking

  public func contains(_ handle: RowHandle) -> Bool { timeline.contains(handle.id) }
  /// All rows, from the oldest to the newest. O(rows).
  public var rows: [RowHandle] { timeline.rowIDs.map { RowHandle($0) } }

  // MARK: Moving

  /// To the newest row; a typing row is behind it.
  public func scrollToEnd(then: (() -> Void)? = nil) { enqueue(then) { $0.timeline.scrollToEnd() } }

  public func scroll(to handle: RowHandle, place: RowPlace = .centre, highlight: Bool = false, then: (() -> Void)? = nil) {
    enqueue(then) { $0.timeline.scroll(to: handle.id, place: place, highlight: highlight) }
  }

  public func setBubbles(_ bubbles: BubbleConfiguration, then: (() -> Void)? = nil) {
    enqueue(then) { $0.timeline.setBubbles(bubbles) }
  }

  /// Ends the view; what comes later does nothing, and completions are still called.
  public func close() {
    isClosed = true
    timeline.close()
    composer.close()
    dom.release(root)
    dom.flush()
  }

  // MARK: The line

  var isInTransaction: Bool { collected != nil }

  func change(_ changes: [RowChange], motion: RowMotion, scroll: AddScroll, _ then: (() -> Void)?) {
    guard collected == nil else {
      collected?.changes += changes
      if let then { collected?.completions.append(then) }
      return
    }
    enqueue(then) { $0.apply(changes, motion, scroll) }
  }

  func makeTyping() -> TypingHandle {
    nextTyping += 1
    return TypingHandle(number: nextTyping)
  }

  private func empty() {
    typing.removeAll()
    timeline.setTyping([])
    timeline.load([], head: timeline.head, tail: isBehind ? .live : timeline.tail)
    isBehind = false
  }

  private func apply(_ changes: [RowChange], _ motion: RowMotion, _ scroll: AddScroll) {
    timeline.apply(placed(changes), mode: scroll == .stay && !timeline.isAtEnd ? .keepStable : .natural, motion: motion)
    if scroll == .toEnd { timeline.scrollToEnd() }
    trim()
  }

  /// First in, first out. What a mutation raises may enqueue others; they come after it.
  func enqueue(_ then: (() -> Void)? = nil, _ work: @escaping (MessengerView) -> Void) {
    line.append { view in
      if !view.isClosed { work(view) }
      then?()
    }
    guard !isWorking else { return }
    isWorking = true
    while !line.isEmpty {
      let next = line
      line = []
      for work in next { work(self) }
    }
    isWorking = false
  }

  func row(_ new: NewRow) -> TimelineRow {
    var id = new.id
    if id == nil {
      id = RowID(nextID)
      nextID += 1
    }
    return TimelineRow(id: id ?? RowID(0), timestampMilliseconds: new.timestampMilliseconds ?? now(), content: new.content)
  }

  private func add(_ rows: [TimelineRow], _ place: AddPlace) -> [RowChange] {
    switch place {
    case .end: [.append(rows)]
    case .start: [.prepend(rows)]
    case .before(let handle): [.insert(rows, before: handle.id)]
    case .after(let handle): [.insertAfter(rows, after: handle.id)]
    }
  }

  /// Messages slide in from their sender's side, other rows fade.
  private func defaultMotion(_ rows: [NewRow]) -> RowMotion {
    if rows.count == 1, case .message = rows[0].content { return .slide }
    return .fade
  }

  private func perform(_ action: TimelineAction) -> Bool {
    switch action {
    case .retryHead where onNeedOlder != nil:
      timeline.setHead(.more(.loading))
      needOlder()
      return true
    case .retryTail where onNeedNewer != nil:
      timeline.setTail(.more(.loading))
      needNewer()
      return true
    default: return onAction?(action) ?? false
    }
  }

  private func needOlder() {
    onMeasure?(Measure(.fetchOlder, .attempt))
    onNeedOlder?()
  }

  private func needNewer() {
    onMeasure?(Measure(.fetchNewer, .attempt))
    onNeedNewer?()
  }
}
