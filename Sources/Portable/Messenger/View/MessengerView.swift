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
  /// What a person did with a row. True says that the host did something.
  public var onAction: ((TimelineAction) -> Bool)?

  /// What is written in the composer; true takes it.
  public var onSubmit: ((String) -> Bool)? {
    get { submission.run }
    set { submission.run = newValue }
  }

  private final class Submission { var run: ((String) -> Bool)? }
  private let submission: Submission
  private let now: () -> Int64
  private var nextID: UInt64
  private var nextTyping: UInt64 = 0
  var typing: [(handle: TypingHandle, member: TypingMember)] = []
  private var line: [(MessengerView) -> Void] = []
  private var isWorking = false
  private(set) var isClosed = false
  /// What the present transaction collects; nil outside of one.
  private var collected: (changes: [RowChange], completions: [() -> Void])?

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
    root = dom.element("div", "mg-messenger")
    timeline = Timeline(dom: dom, options: options)
    let box = dom.element("div", "mg-messenger-list", in: root)
    dom.append(timeline.root, to: box)
    let submission = Submission()
    self.submission = submission
    self.composer = composer?(dom) { submission.run?($0) ?? false } ?? .absent
    if self.composer.root != .none { dom.append(self.composer.root, to: root) }
    timeline.load([], head: .hidden)
    timeline.onAction = { [self] action in perform(action) }
    timeline.onNearStart = { [self] in onNeedOlder?() }
    timeline.onNearEnd = { [self] in onNeedNewer?() }
  }

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

  /// Another row in the place of this one.
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

  /// Everything that `body` changes is one step, with one layout.
  public func transaction(_ mode: TransactionMode = .natural, _ body: (MessengerView) -> Void, then: (() -> Void)? = nil) {
    guard collected == nil else {
      body(self)
      then?()
      return
    }
    collected = ([], [])
    body(self)
    guard let (changes, completions) = collected else { return }
    collected = nil
    enqueue({
      for completion in completions { completion() }
      then?()
    }) { $0.timeline.apply(changes, mode: mode, motion: .rise) }
  }

  public func clear(then: (() -> Void)? = nil) {
    enqueue(then) { view in
      view.typing.removeAll()
      view.timeline.setTyping([])
      view.timeline.load([], head: view.timeline.head, tail: view.timeline.tail)
    }
  }

  // MARK: Asking

  public func contains(_ handle: RowHandle) -> Bool { timeline.contains(handle.id) }
  /// All rows, from first to last. O(rows).
  public var rows: [RowHandle] { timeline.rowIDs.map { RowHandle($0) } }

  // MARK: Moving

  /// To the last row; a typing row is behind it.
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

  private func apply(_ changes: [RowChange], _ motion: RowMotion, _ scroll: AddScroll) {
    timeline.apply(changes, mode: scroll == .stay && !timeline.isAtEnd ? .keepStable : .natural, motion: motion)
    if scroll == .toEnd { timeline.scrollToEnd() }
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
      onNeedOlder?()
      return true
    case .retryTail where onNeedNewer != nil:
      timeline.setTail(.more(.loading))
      onNeedNewer?()
      return true
    default: return onAction?(action) ?? false
    }
  }
}
