import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct ReadingTests {
  static let three = [Wire.message("one", "$1"), Wire.message("two", "$2"), Wire.message("three", "$3")]
  static func unread(_ count: Int, highlights: Int = 0) -> String {
    #","unread_notifications":{"notification_count":\#(count),"highlight_count":\#(highlights)}"#
  }
  static func receipt(_ event: String, _ user: String) -> String {
    #","ephemeral":{"events":[{"type":"m.receipt","content":{"\#(event)":{"m.read":{"\#(user)":{"ts":1}}}}}]}"#
  }
  static func typing(_ users: String...) -> String {
    let list = users.map { #""\#($0)""# }.joined(separator: ",")
    return #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":[\#(list)]}}]}"#
  }

  // MARK: Receipts

  @Test func `what was on the screen of a focused window is read, the badge falls at once`() {
    var host = Host.inRoom(Self.three)
    host.sync(Wire.join([Wire.message("four", "$4")], extra: Self.unread(4, highlights: 1)))
    #expect(host.client.room(.test)?.notificationCount == 4)
    #expect(host.client.notificationCount == 4)
    host.command(.reading(.viewed(.test, upTo: host.items()[1].id)))
    #expect(host.body("/read_markers")?["m.read"]?.string == "$2")
    #expect(host.body("/read_markers")?["m.fully_read"]?.string == "$2")
    #expect(host.client.room(.test)?.notificationCount == 2)
    host.command(.reading(.viewed(.test, upTo: host.items()[3].id)))
    #expect(host.client.room(.test)?.notificationCount == 0)
    #expect(host.client.room(.test)?.highlightCount == 0)
  }

  // Proves W7
  @Test(arguments: [(true, false), (false, true), (false, false)]) func `nothing is read without attention`(
    isVisible: Bool, isFocused: Bool
  ) {
    var host = Host.inRoom(Self.three)
    host.handle(.attentionChanged(isVisible: isVisible, isFocused: isFocused))
    host.command(.reading(.viewed(.test, upTo: host.items()[2].id)))
    #expect(host.request("/read_markers") == nil)
    host.handle(.attentionChanged(isVisible: true, isFocused: true))
    #expect(host.body("/read_markers")?["m.read"]?.string == "$3")
  }

  // Proves J38
  @Test func `receipts never go back and not more than one a second`() {
    var host = Host.inRoom(Self.three)
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    host.command(.reading(.viewed(.test, upTo: host.items()[1].id)))
    host.command(.reading(.viewed(.test, upTo: host.items()[2].id)))
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    #expect(host.waiting.filter { $0.request.target.contains("/read_markers") }.count == 1)
    host.answer("/read_markers", "{}")
    #expect(host.request("/read_markers") == nil)
    host.wait(1000)
    #expect(host.body("/read_markers")?["m.read"]?.string == "$3")
    host.answer("/read_markers", "{}")
    host.wait(5000)
    #expect(host.request("/read_markers") == nil)
  }

  // Proves P24
  @Test func `private receipts stay private`() {
    var host = Host.inRoom(Self.three)
    host.command(.reading(.setPublicReceipts(false)))
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    #expect(host.body("/read_markers")?["m.read.private"]?.string == "$1")
    #expect(host.body("/read_markers")?["m.read"] == nil)
  }

  @Test func `a sync made before the receipt does not bring the badge back`() {
    var host = Host.inRoom(Self.three)
    host.sync(Wire.join([Wire.message("four", "$4")], extra: Self.unread(4)))
    host.command(.reading(.viewed(.test, upTo: host.items()[3].id)))
    host.sync(Wire.join(extra: Self.unread(4)))
    #expect(host.client.room(.test)?.notificationCount == 0)
    host.answer("/read_markers", "{}")
    host.sync(Wire.join(extra: Self.unread(0) + Self.receipt("$4", "@me:test")))
    host.sync(Wire.join([Wire.message("five", "$5")], extra: Self.unread(1)))
    #expect(host.client.room(.test)?.notificationCount == 1)
  }

  // Proves W7
  @Test func `a receipt that did not reach the server is sent again`() {
    var host = Host.inRoom(Self.three)
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    host.respond("/read_markers", .networkError)
    host.wait(10_000)
    #expect(host.body("/read_markers")?["m.read"]?.string == "$1")
  }

  // Proves J39
  @Test func `one sees how many have not read a message`() {
    var host = Host.inRoom(Self.three + [Wire.message("mine", "$4", by: "@me:test")])
    // Three members. Alice wrote one to three, I wrote four; Bob has read nothing.
    #expect((0..<4).map { host.client.unreadMemberCount(.test, itemAt: $0) } == [1, 1, 1, 2])
    host.changes = []
    host.sync(Wire.join(extra: Self.receipt("$2", "@bob:test")))
    #expect((0..<4).map { host.client.unreadMemberCount(.test, itemAt: $0) } == [0, 0, 1, 2])
    #expect(host.changes.contains { if case .readCounts(.test, 0..<2) = $0 { true } else { false } })
    host.sync(Wire.join(extra: Self.receipt("$1", "@bob:test")))
    #expect((0..<4).map { host.client.unreadMemberCount(.test, itemAt: $0) } == [0, 0, 1, 2])
    host.sync(Wire.join(extra: Self.receipt("$4", "@bob:test")))
    host.sync(Wire.join(extra: Self.receipt("$4", "@alice:test")))
    #expect((0..<4).map { host.client.unreadMemberCount(.test, itemAt: $0) } == [0, 0, 0, 0])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect((0..<4).map { next.client.unreadMemberCount(.test, itemAt: $0) } == [0, 0, 0, 0])
    host.command(.sending(.send(.test, .text("more"))))
    #expect(host.client.unreadMemberCount(.test, itemAt: 4) == nil)
  }

  @Test func `who answers has read what stands above the answer`() {
    var host = Host.inRoom([Wire.message("mine", "$4", by: "@me:test")])
    #expect(host.client.unreadMemberCount(.test, itemAt: 0) == 2)
    host.changes = []
    host.sync(Wire.join([Wire.message("yours", "$5", by: "@bob:test")]))
    #expect(host.client.unreadMemberCount(.test, itemAt: 0) == 1)
    #expect(host.changes.contains { if case .readCounts(.test, 0..<2) = $0 { true } else { false } })
  }

  @Test func `a receipt in a thread does not count in the room, one without a thread does`() {
    var host = Host.inRoom()
    func read(_ thread: String) {
      let reader = #"{"@bob:test":{"ts":1\#(thread)}}"#
      host.sync(
        Wire.join(extra: #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":\#(reader)}}}]}"#))
    }
    func readers() -> [String]? {
      host.client.room(.test).map { room in room.timeline.readers(at: room.timeline.items[0].id).map { $0.string } }
    }
    read(#","thread_id":"$root""#)
    #expect(readers() == ["@alice:test"])
    read("")
    #expect(readers() == ["@alice:test", "@bob:test"])
    let next = host.restarted()
    host = next
    host.command(.timeline(.openRoom(.test)))
    #expect(readers() == ["@alice:test", "@bob:test"])
  }

  /// Each of two receipts, of the room and of its main thread, moves for itself: the one told last may be the one behind.
  @Test(arguments: [("", #","thread_id":"main""#), (#","thread_id":"main""#, "")], [false, true])
  func `who has read further by one kind of receipt has read it, also after a restart`(
    threads: (further: String, last: String), isOneSync: Bool
  ) {
    var host = Host.inRoom(Self.three)
    func event(_ id: String, _ thread: String) -> String {
      #"{"type":"m.receipt","content":{"\#(id)":{"m.read":{"@bob:test":{"ts":1\#(thread)}}}}}"#
    }
    func sync(_ events: String...) {
      host.sync(Wire.join(extra: #","ephemeral":{"events":[\#(events.joined(separator: ","))]}"#))
    }
    func place(_ host: Host) -> Int? {
      host.client.room(.test).flatMap { room in
        room.timeline.items.firstIndex { room.timeline.readers(at: $0.id).contains(UserID(trusted: "@bob:test")) }
      }
    }
    let (further, last) = (event("$3", threads.further), event("$1", threads.last))
    if isOneSync {
      sync(further, last)
    } else {
      sync(further)
      sync(last)
    }
    #expect(place(host) == 2)
    var next = host.restarted()
    // A room nobody has opened holds the receipts of the last sync only: it must not write over the others.
    next.sync(Wire.join(extra: #","ephemeral":{"events":[\#(event("$2", threads.last))]}"#))
    var third = next.restarted()
    third.command(.timeline(.openRoom(.test)))
    #expect(place(third) == 2)
    next.command(.timeline(.openRoom(.test)))
    #expect(place(next) == 2)
  }

  @Test func `the receipts of who has left are gone from the store, whatever their kind`() {
    var host = Host.inRoom(Self.three)
    for thread in ["", #","thread_id":"main""#] {
      let content = #"{"$3":{"m.read":{"@bob:test":{"ts":1\#(thread)}}}}"#
      host.sync(Wire.join(extra: #","ephemeral":{"events":[{"type":"m.receipt","content":\#(content)}]}"#))
    }
    func stored() -> [ByteString] { host.store.keys.filter { $0.string.contains("/r/") && $0.string.contains("bob") } }
    #expect(stored().count == 2)
    host.sync(Wire.join([Wire.member("@bob:test", "leave", "$l")]))
    #expect(stored().isEmpty)
  }

  @Test func `who has left counts no more`() {
    var host = Host.inRoom(Self.three)
    host.sync(Wire.join(extra: Self.receipt("$3", "@bob:test")))
    host.sync(Wire.join([Wire.member("@bob:test", "leave", "$l")], extra: #","summary":{"m.joined_member_count":2}"#))
    #expect(host.client.unreadMemberCount(.test, itemAt: 2) == 1)
  }

  @Test func `who has left counts no more when the timeline is read again either`() {
    var host = Host.inRoom(Self.three + [Wire.message("by Bob", "$4", by: "@bob:test")])
    host.sync(Wire.join([Wire.member("@bob:test", "leave", "$l")], extra: #","summary":{"m.joined_member_count":2}"#))
    #expect(host.client.unreadMemberCount(.test, itemAt: 2) == 1)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.client.unreadMemberCounts(.test) == host.client.unreadMemberCounts(.test))
    #expect(next.client.room(.test)?.timeline.readers(at: next.items()[3].id).isEmpty ?? false)
  }

  // MARK: Typing

  // Proves J35, W30
  @Test func `someone who writes is shown until they stop, send, or ten seconds pass`() {
    var host = Host.inRoom()
    func names() -> [String] { host.client.room(.test)?.typing.map { $0.string } ?? [] }
    host.sync(Wire.join(extra: Self.typing("@alice:test", "@me:test")))
    #expect(names() == ["@alice:test"])
    host.sync(Wire.join(extra: Self.typing()))
    #expect(names() == [])
    host.sync(Wire.join(extra: Self.typing("@alice:test", "@bob:test")))
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(names() == ["@bob:test"])
    host.wait(9_999)
    #expect(names() == ["@bob:test"])
    host.wait(1)
    #expect(names() == [])
  }

  // Proves J34
  @Test func `the client reports when the user starts typing, goes on and stops`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("h"))))
    #expect(host.body("/typing/")?["typing"]?.bool == true)
    host.answer("/typing/", "{}")
    host.command(.sending(.setDraft(.test, Draft("he"))))
    #expect(host.request("/typing/") == nil)
    host.wait(Limits.typingRefreshMilliseconds)
    #expect(Limits.typingRefreshMilliseconds <= 25_000)
    host.command(.sending(.setDraft(.test, Draft("hel"))))
    #expect(host.body("/typing/")?["typing"]?.bool == true)
    host.answer("/typing/", "{}")
    host.command(.sending(.setDraft(.test, Draft(""))))
    #expect(host.body("/typing/")?["typing"]?.bool == false)
    host.answer("/typing/", "{}")
    host.command(.sending(.setDraft(.test, Draft("x"))))
    host.answer("/typing/", "{}")
    host.command(.sending(.send(.test, .text("x"))))
    #expect(host.body("/typing/")?["typing"]?.bool == false)
  }

  // MARK: Drafts

  @Test func `a draft is kept over a restart and gone once it is sent`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.wait(1000)
    #expect(host.restarted().client.room(.test)?.draft == "half a")
    host.command(.sending(.send(.test, .text("half a"))))
    #expect(host.client.room(.test)?.draft == "")
    #expect(host.restarted().client.room(.test)?.draft == "")
  }
}
