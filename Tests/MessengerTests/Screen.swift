import Messenger
import MessengerTesting
import Testing

@testable import Messenger

/// A timeline on a fake page, as a person sees it.
final class Screen {
  let dom = FakeDOM()
  let timeline: Timeline<FakeDOM>
  var actions: [String] = []
  var handlesLinks = false

  init(viewport: Double = 800, width: Double = 600, options: TimelineOptions = TimelineOptions()) {
    timeline = Timeline(dom: dom, options: options)
    if !options.policy.isEmpty { timeline.use(options.policy) }
    dom.append(timeline.root, to: .root)
    timeline.onAction = { [unowned self] action in
      actions.append("\(action)")
      return handlesLinks
    }
    dom.fire(.resize, on: scroller, x: width, y: viewport)
  }

  var scroller: Node { timeline.parts.scroller }
  var top: Double { dom[scroller].lengths[.scrollTop] ?? 0 }
  var viewport: Double { timeline.geometry.viewport }

  /// Scrolls as a person does: the page clamps, then tells.
  func scroll(to top: Double) {
    let limit = max(0, (dom[timeline.parts.content].lengths[.height] ?? 0) - viewport)
    let clamped = max(0, min(top, limit))
    dom.setLength(scroller, .scrollTop, clamped)
    dom.fire(.scroll, on: scroller, x: clamped, y: viewport)
  }

  func scroll(by distance: Double) { scroll(to: top + distance) }

  /// The rows on the screen by what the page shows, never by what the timeline believes: identity, top, height.
  func rows() -> [(id: RowID, y: Double, height: Double)] {
    var y = (dom[timeline.parts.window].lengths[.translateY] ?? 0) - top
    var found: [(RowID, Double, Double)] = []
    for element in dom[timeline.parts.window].children {
      let height = dom.height(of: element)
      if let view = timeline.rendered.first(where: { $0.node == element.node }) { found.append((view.id, y, height)) }
      y += height
    }
    return found
  }

  /// Where what a row says begins: below its date, the divider, its sender's avatar and name, the quote of what it answers.
  func body(_ id: RowID) -> Double? {
    guard let row = rows().first(where: { $0.id == id }), let element = element(id) else { return nil }
    return ["mg-date", "mg-divider", "mg-avatar", "mg-name", "mg-quote"].reduce(row.y) { y, above in
      y + (element.first(above).map(dom.height) ?? 0)
    }
  }

  func visible() -> [(id: RowID, y: Double, height: Double)] {
    rows().filter { $0.y + $0.height > 0 && $0.y < viewport }
  }

  /// The element of a row, if it is rendered.
  func element(_ id: RowID) -> FakeElement? {
    timeline.rendered.first { $0.id == id }.map { dom[$0.node] }
  }

  /// Loads one message and gives its element.
  @discardableResult
  func show(_ body: MessageRow.Body, from sender: Sender = alice, _ around: Surroundings? = nil) -> FakeElement {
    let row = TimelineRow(
      id: RowID(1), timestampMilliseconds: 0,
      content: .message(MessageRow(sender: sender, body: body, surroundings: around)))
    if timeline.contains(RowID(1)) { timeline.apply([.update(row)]) } else { timeline.load([row], head: .hidden) }
    return element(RowID(1))!
  }

  func click(_ element: FakeElement) { dom.fire(.click, on: element.node) }

  func slot(_ id: RowID, _ slot: Slot) -> Node? { timeline.rendered.first { $0.id == id }?.slot(slot) }
}

extension TimelineOptions {
  static func with(_ actions: ActionSet) -> TimelineOptions {
    let options = TimelineOptions()
    options.actions = actions
    return options
  }
}

extension TimelineOptions {
  static func with(policy: ListPolicy) -> TimelineOptions {
    let options = TimelineOptions.with(.all)
    options.policy = policy
    return options
  }
}

extension ActionSet {
  static let all = ActionSet(rawValue: .max)
}

let alice = Sender(id: "@alice:example.org", name: "Alice Ay", isOwn: false)
let bob = Sender(id: "@bob:example.org", name: "Bob", isOwn: false)
let me = Sender(id: "@me:example.org", name: "Me", isOwn: true)

func message(
  _ id: UInt64, _ text: String = "hello", from sender: Sender = alice, at seconds: Int64? = nil,
  body: MessageRow.Body? = nil, state: SendState = .sent
) -> TimelineRow {
  TimelineRow(
    id: RowID(id), timestampMilliseconds: (seconds ?? Int64(id) * 60) * 1000,
    content: .message(MessageRow(sender: sender, body: body ?? .text(text), sendState: state)))
}

/// A deterministic conversation with rows of many heights.
struct Conversation {
  var random: UInt64
  init(seed: UInt64) { random = seed }

  mutating func number(_ limit: UInt64) -> UInt64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (random >> 33) % limit
  }

  mutating func row(_ id: UInt64, at seconds: Int64) -> TimelineRow {
    let sender = [alice, bob, me][Int(number(3))]
    switch number(12) {
    case 0:
      return TimelineRow(id: RowID(id), timestampMilliseconds: seconds * 1000, content: .line("Bob joined"))
    case 1:
      let image = ImageBody(name: "a.png", thumbnail: "blob:a", width: Int(number(2000)), height: Int(number(2000)))
      return TimelineRow(
        id: RowID(id), timestampMilliseconds: seconds * 1000,
        content: .message(MessageRow(sender: sender, body: .image(image))))
    default:
      return message(id, String(repeating: "word ", count: Int(1 + number(60))), from: sender, at: seconds)
    }
  }

  mutating func rows(_ ids: Range<UInt64>, from seconds: Int64) -> [TimelineRow] {
    var time = seconds
    return ids.map { id in
      time += Int64(number(400))
      return row(id, at: time)
    }
  }
}

/// No place of the viewport is blank, and what the page has is what the timeline says.
func expectCovered(_ screen: Screen) {
  let rows = screen.rows()
  #expect(rows.count == screen.timeline.rendered.count)
  guard let first = rows.first, let last = rows.last else { return }
  #expect(first.y <= 0.5 || screen.timeline.firstRendered == 0)
  #expect(
    last.y + last.height >= screen.viewport - 0.5
      || last.id == screen.timeline.store[screen.timeline.count - 1].row.id)
  for (offset, row) in rows.enumerated() {
    #expect(row.id == screen.timeline.store[screen.timeline.firstRendered + offset].row.id)
  }
}

/// Whether what was in view is, and stands where it stood.
func isUnmoved(
  _ before: [(id: RowID, y: Double, height: Double)], _ after: [(id: RowID, y: Double, height: Double)]
) -> Bool {
  after.map(\.id) == before.map(\.id) && zip(after, before).allSatisfy { abs($0.y - $1.y) <= 0.5 }
}

/// The time of a timeline, which passes when a test says so.
final class Clock {
  private var due: [() -> Void] = []

  var isIdle: Bool { due.isEmpty }

  func options() -> TimelineOptions {
    let options = TimelineOptions()
    options.after = { [self] _, then in due.append(then) }
    return options
  }

  /// Lets the time pass that was asked for until now; or the first of it.
  func pass(_ count: Int = .max) {
    let passed = due.prefix(count)
    due.removeFirst(passed.count)
    for run in passed { run() }
  }
}
