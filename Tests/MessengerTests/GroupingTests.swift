import Testing

@testable import Messenger

@Suite("Groups and separators")
struct GroupingTests {
  func decors(_ rows: [TimelineRow], divider: RowID? = nil, grouping: Int64 = 120_000, avatars: AvatarPlace = .none) -> [Decor]
  {
    var store = RowStore { Int($0 / 86_400_000) }
    store.replaceAll(rows)
    return (0..<store.count).map { store.decor(at: $0, divider: divider, groupingMilliseconds: grouping, avatars: avatars) }
  }

  // Proves N7
  @Test("A tap on an avatar opens who wrote the message; where the host opens nobody it is a picture with a name")
  func avatarTap() throws {
    let screen = Screen(options: .with(.openSender))
    let avatar = try #require(screen.show(.text("a"), from: bob).first("mg-avatar"))
    #expect(avatar.tag == "button" && avatar.attributes["aria-label"] == "Bob")
    screen.click(avatar)
    screen.click(try #require(avatar.first("mg-initials")))
    #expect(screen.actions == [String](repeating: "\(TimelineAction.openSender(RowID(1)))", count: 2))
    let other = Screen(options: .with([]))
    let picture = try #require(other.show(.text("a"), from: bob).first("mg-avatar"))
    #expect(picture.tag == "span" && picture.attributes["role"] == "img" && picture.attributes["aria-label"] == "Bob")
    other.click(picture)
    #expect(other.actions.isEmpty)
  }

  // Proves C9, N7, T9, T10
  @Test(
    "Avatars stand beside the first, the last, each or none of a group; never beside own messages",
    arguments: [
      (AvatarPlace.groupStart, [true, false, false]), (.groupEnd, [false, false, true]),
      (.everyMessage, [true, true, true]), (.none, [false, false, false])
    ])
  func avatars(place: AvatarPlace, expected: [Bool]) {
    let rows = [message(1, at: 0), message(2, at: 10), message(3, at: 20), message(4, from: me, at: 30)]
    #expect(decors(rows, avatars: place).map { $0.contains(.avatar) } == expected + [false])
  }

  // Proves C7, T8
  @Test("Messages of one sender within two minutes are one group: first, middle, last")
  func groups() {
    let found = decors([message(1, at: 0), message(2, at: 100), message(3, at: 219)])
    #expect(found[0] == [.date, .first])
    #expect(found[1] == [])
    #expect(found[2] == [.last])
  }

  // Proves C7
  @Test(
    "A message alone is first and last",
    arguments: [
      (message(2, from: bob, at: 10), "another sender"), (message(2, at: 120), "two minutes later"),
      (message(2, at: 86_400), "another day"),
      (TimelineRow(id: RowID(2), timestampMilliseconds: 10_000, content: .line("x")), "a line")
    ])
  func separates(next: TimelineRow, reason: String) {
    let found = decors([message(1, at: 0), next])
    #expect(found[0].contains(.first) && found[0].contains(.last), "\(reason)")
  }

  // Proves T8
  @Test("The limit is exclusive and settable", arguments: [(Int64(119_999), true), (120_000, false)])
  func limit(apart: Int64, isGroup: Bool) {
    var later = message(2)
    later.timestampMilliseconds = apart
    let found = decors([message(1, at: 0), later])
    #expect(found[1].contains(.first) == !isGroup)
    #expect(decors([message(1, at: 0), message(2, at: 0)], grouping: 0)[1].contains(.first))
  }

  // Proves N14, T20, T21
  @Test("Each day begins with its date, by the local day")
  func days() {
    var store = RowStore { Int(($0 + 3_600_000) / 86_400_000) }
    store.replaceAll([message(1, at: 82_700), message(2, at: 82_799), message(3, at: 82_800)])
    let dates = (0..<3).map { store.decor(at: $0, divider: nil, groupingMilliseconds: 0, avatars: .none).contains(.date) }
    #expect(dates == [true, false, true])
  }

  // Proves T20, T21
  @Test("The divider splits a group")
  func divider() {
    let found = decors([message(1, at: 0), message(2, at: 1)], divider: RowID(2))
    #expect(found[0].contains(.last))
    #expect(found[1] == [.divider, .first, .last])
  }

  @Test("Times at the ends of the range do not trap")
  func extremes() {
    var old = message(1)
    old.timestampMilliseconds = .min
    var new = message(2)
    new.timestampMilliseconds = .max
    #expect(decors([old, new])[1].contains(.first))
  }
}
