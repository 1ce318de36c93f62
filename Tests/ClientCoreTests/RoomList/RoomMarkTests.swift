import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct RoomMarkTests {
  private static func marked(_ content: String) -> String {
    #","account_data":{"events":[{"type":"m.marked_unread","content":\#(content)}]}"#
  }

  // MARK: Tags

  @Test func `tags are put on and taken off, and their order survives a restart`() {
    var host = Host.inRoom()
    host.command(.rooms(.setTag(.test, RoomTag(RoomTag.favourite, order: 0.125))))
    let request = host.request("/tags/")?.request
    #expect(request?.method == .put)
    #expect(request?.target.hasSuffix("/user/%40me%3Atest/rooms/%21room%3Atest/tags/m.favourite") == true)
    #expect(request?.body == Array(#"{"order":0.125}"#.utf8))
    host.answer("/tags/", "{}")
    #expect(host.result() == "done")
    #expect(host.client.room(.test)?.isFavourite == false)
    host.changes = []
    host.sync(
      Wire.join(
        extra:
          #","account_data":{"events":[{"type":"m.tag","content":{"tags":{"m.favourite":{"order":0.125},"u.work":{}}}}]}"#))
    #expect(host.client.room(.test)?.tags == [RoomTag("m.favourite", order: 0.125), RoomTag("u.work")])
    #expect(host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.tags) } else { false } })
    #expect(host.restarted().client.room(.test)?.tags == [RoomTag("m.favourite", order: 0.125), RoomTag("u.work")])
    host.command(.rooms(.removeTag(.test, RoomTag.favourite)))
    #expect(host.request("/tags/m.favourite")?.request.method == .delete)
    host.answer("/tags/", "{}")
    host.sync(Wire.join(extra: #","account_data":{"events":[{"type":"m.tag","content":{"tags":{"u.work":{}}}}]}"#))
    #expect(host.client.room(.test)?.isFavourite == false)
  }

  @Test(
    arguments: [
      ([nil, nil, nil], 2, 0, 1), ([nil, nil, nil], 0, 2, 3), ([0.25, 0.5, 0.75], 2, 0, 1), ([0.25, 0.5, 0.75], 0, 1, 1),
      ([0.5, 0.5, 0.5], 2, 1, 3), ([0.25, nil, nil], 2, 1, 1), ([0.25, 0.5, 0.75], 1, 1, 0), ([1, 1, nil], 2, 2, 0),
      ([0, 1, nil], 0, 9, 3), ([0.5, 1, 1.5], 0, 2, 3)
    ] as [([Double?], Int, Int, Int)])
  func `a room is moved among the tagged by as few orders as it takes`(
    orders: [Double?], from: Int, to: Int, count: Int
  ) {
    var host = Host.signedIn()
    func put(_ orders: [(String, Double?)]) {
      host.sync(
        WireRoom.join(
          orders.map { id, order in
            // Equal ones stand by the last message.
            var room = WireRoom(id, time: id == "!a:t" ? 30 : id == "!b:t" ? 20 : 10)
            room.tags = ["u.x": order.map { #"{"order":\#(String(decoding: Decimal.text($0), as: UTF8.self))}"# } ?? "{}"]
            return room
          }))
    }
    let ids = ["!a:t", "!b:t", "!c:t"]
    put(Array(zip(ids, orders)))
    let changes = host.client.tagOrders(toMove: RoomID(trusted: ByteString(ids[from])), to: to, tag: "u.x")
    #expect(changes.count == count)
    if !changes.isEmpty { put(changes.map { ($0.room.string, $0.order) }) }
    var expected = ids
    expected.insert(expected.remove(at: from), at: min(to, 2))
    #expect(host.client.rooms(tagged: "u.x").map { $0.string } == expected)
  }

  @Test func `a name that no tag can have is refused here`() {
    var host = Host.inRoom()
    host.command(.rooms(.setTag(.test, RoomTag(ByteString(String(repeating: "x", count: Limits.tagBytes + 1))))))
    #expect(host.result() == "invalidContent")
    host.command(.rooms(.setTag(.test, RoomTag(""))))
    #expect(host.result() == "invalidContent")
    #expect(host.request("/tags/") == nil)
    host.command(.rooms(.setTag(.test, RoomTag(ByteString(String(repeating: "x", count: Limits.tagBytes))))))
    #expect(host.request("/tags/") != nil)
  }

  @Test(
    arguments: [
      ("0", 0), ("0.5", 0.5), ("1", 1), ("-0.25", -0.25), ("1e-3", 0.001), ("5E-1", 0.5), ("2.5e1", 25), ("0.1", 0.1),
      ("00.5", 0.5), ("", nil), (".", nil), ("-", nil), ("1e", nil), ("1e9999", nil), ("0x1", nil), ("1,5", nil), (" 1", nil),
      ("nan", nil), ("1e20", 1e20), ("1e40", nil), ("0.000000000000000000000000000001", 1e-30)
    ] as [(String, Double?)])
  func `orders are read as decimal numbers`(text: String, expected: Double?) {
    #expect(Decimal.read(text.utf8) == expected)
  }

  @Test(
    arguments: [
      (0, "0"), (0.5, "0.5"), (1, "1"), (0.1, "0.1"), (-0.25, "-0.25"), (1.0 / 3, "0.333333333333333"), (1e-20, "0"),
      (12.5, "12.5"),
      (.nan, "0"), (.infinity, "1000"), (1e9, "1000")
    ] as [(Double, String)])
  func `orders are written as decimal numbers`(value: Double, expected: String) {
    #expect(String(decoding: Decimal.text(value), as: UTF8.self) == expected)
  }

  @Test func `the user's own tags have a name, others have none`() {
    #expect(RoomTag("u.My tag").displayName == "My tag")
    #expect(RoomTag("old").displayName == "old")
    #expect(RoomTag("m.favourite").displayName == nil)
    #expect(RoomTag("com.example.x").displayName == nil)
  }

  @Test func `only so many tags of a room are kept`() throws {
    let members = (0...Limits.roomTags).map { #""u.\#($0)":{}"# }.joined(separator: ",")
    #expect(RoomTag.tags(try JSON.parse(Array(#"{"tags":{\#(members)}}"#.utf8))).count == Limits.roomTags)
  }

  // MARK: Marked unread

  // Proves P20
  @Test func `a room is marked as unread at once, and stays so after a restart`() {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true)))
    #expect(host.client.room(.test)?.isMarkedUnread == true)
    #expect(host.client.room(.test)?.isUnread == true)
    #expect(host.body("/account_data/m.marked_unread")?["unread"]?.bool == true)
    host.answer("/account_data/m.marked_unread", "{}")
    #expect(host.result() == "done")
    host.sync(Wire.join(extra: Self.marked(#"{"unread":true}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == true)
    #expect(host.restarted().client.room(.test)?.isMarkedUnread == true)
  }

  @Test func `a room is marked as unread from a message on, until it is read, over a restart as well`() throws {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true, after: EventID("$before"))))
    #expect(host.client.room(.test)?.unreadAfter == EventID("$before"))
    #expect(host.body("/account_data/m.marked_unread")?.text("martlet.read") == "$before")
    host.answer("/account_data/m.marked_unread", "{}")
    host.sync(Wire.join(extra: Self.marked(##"{"unread":true,"martlet.read":"$before"}"##)))
    #expect(host.client.room(.test)?.unreadAfter == EventID("$before"))
    #expect(host.restarted().client.room(.test)?.unreadAfter == EventID("$before"))
    host.command(.reading(.viewed(.test, upTo: try #require(host.items().last?.id))))
    #expect(host.client.room(.test)?.unreadAfter == nil)
  }

  @Test func `an older mark from another message on does not confirm a newer one`() {
    var host = Host.inRoom()
    host.sync(Wire.join(extra: Self.marked(##"{"unread":true,"martlet.read":"$old"}"##)))
    host.command(.reading(.markUnread(.test, true, after: EventID("$before"))))
    // It was asked for before.
    host.sync(Wire.join(extra: Self.marked(##"{"unread":true,"martlet.read":"$old"}"##)))
    #expect(host.client.room(.test)?.unreadAfter == EventID("$before"))
    host.answer("/account_data/m.marked_unread", "{}")
    host.sync(Wire.join(extra: Self.marked(##"{"unread":true,"martlet.read":"$before"}"##)))
    #expect(host.client.room(.test)?.unreadAfter == EventID("$before"))
  }

  @Test func `a mark that the server refuses is taken back`() {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true)))
    host.changes = []
    host.answer("/account_data/m.marked_unread", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.client.room(.test)?.isMarkedUnread == false)
    #expect(host.result().contains("M_FORBIDDEN"))
    #expect(host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.unread) } else { false } })
  }

  @Test func `reading takes the mark away, also where everything had been read`() throws {
    var host = Host.inRoom()
    let item = try #require(host.items().last?.id)
    host.command(.reading(.viewed(.test, upTo: item)))
    host.answer("/read_markers", "{}")
    host.sync(Wire.join(extra: Self.marked(#"{"unread":true}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == true)
    host.command(.reading(.viewed(.test, upTo: item)))
    #expect(host.client.room(.test)?.isMarkedUnread == false)
    #expect(host.body("/account_data/m.marked_unread")?["unread"]?.bool == false)
    host.answer("/account_data/m.marked_unread", "{}")
    // The sync under way was asked for before.
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(host.client.room(.test)?.isMarkedUnread == false)
    host.sync(Wire.join(extra: Self.marked(#"{"unread":false}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == false)
    host.command(.reading(.viewed(.test, upTo: item)))
    #expect(host.request("/account_data/") == nil)
  }

  @Test func `what another device says afterwards counts`() {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true)))
    host.answer("/account_data/m.marked_unread", "{}")
    host.sync()
    // Both changes came in one.
    host.sync(Wire.join(extra: Self.marked(#"{"unread":false}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == false)
  }

  @Test func `a mark that another device takes away is gone, whichever sync tells of it`() {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true)))
    host.answer("/account_data/m.marked_unread", "{}")
    host.changes = []
    // The sync under way when the server took the mark brings both changes in one.
    host.sync(Wire.join(extra: Self.marked(#"{"unread":false}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == false)
    #expect(host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.unread) } else { false } })
    // It brings them before the server's answer is here: the next one, which says nothing of the room, decides.
    host.command(.reading(.markUnread(.test, true)))
    host.sync(Wire.join(extra: Self.marked(#"{"unread":false}"#)))
    #expect(host.client.room(.test)?.isMarkedUnread == true)
    host.answer("/account_data/m.marked_unread", "{}")
    host.sync()
    #expect(host.client.room(.test)?.isMarkedUnread == true)
    host.sync()
    #expect(host.client.room(.test)?.isMarkedUnread == false)
  }

  // MARK: Breadcrumbs

  private static let roomB = RoomID(trusted: "!b:t")

  private static func visiting() -> Host {
    var host = Host.inRoom()
    host.sync(WireRoom.join([WireRoom("!b:t", "B", time: 5)]))
    return host
  }

  @Test func `rooms visited last are kept here and by the account`() {
    var host = Self.visiting()
    host.command(.rooms(.visit(.test)))
    host.command(.rooms(.visit(Self.roomB)))
    #expect(host.client.breadcrumbs.rooms == [Self.roomB, .test])
    // One request at a time.
    #expect(host.body("/account_data/im.vector.setting.breadcrumbs")?["recent_rooms"]?.count == 1)
    host.answer("/account_data/im.vector.setting.breadcrumbs", "{}")
    let second = host.body("/account_data/im.vector.setting.breadcrumbs")?["recent_rooms"]
    #expect(second?.elements.map { $0.string ?? "" } == ["!b:t", "!room:test"])
    host.answer("/account_data/im.vector.setting.breadcrumbs", "{}")
    host.command(.rooms(.visit(Self.roomB)))
    #expect(host.request("/account_data/") == nil)
    #expect(host.restarted().client.breadcrumbs.rooms == [Self.roomB, .test])
    host.command(.rooms(.visit(RoomID(trusted: "!no:t"))))
    #expect(host.result() == "unknownRoom")
  }

  @Test func `breadcrumbs of another device take their place, unless own ones are on their way`() {
    func crumbs(_ room: String) -> String {
      #","account_data":{"events":[{"type":"im.vector.setting.breadcrumbs","content":{"recent_rooms":["\#(room)"]}}]}"#
    }
    var host = Self.visiting()
    host.sync(extra: crumbs("!b:t"))
    #expect(host.client.breadcrumbs.rooms == [Self.roomB])
    host.command(.rooms(.visit(.test)))
    host.sync(extra: crumbs("!c:t"))
    #expect(host.client.breadcrumbs.rooms == [.test, Self.roomB])
    host.answer("/account_data/im.vector.setting.breadcrumbs", "{}")
    host.sync(extra: crumbs("!c:t"))
    #expect(host.client.breadcrumbs.rooms.map { $0.string } == ["!c:t"])
  }

  @Test func `only so many breadcrumbs are kept`() throws {
    var crumbs = Breadcrumbs()
    for i in 0...Limits.breadcrumbs { crumbs.visit(RoomID(trusted: ByteString("!r\(i):t"))) }
    #expect(crumbs.rooms.count == Limits.breadcrumbs)
    #expect(crumbs.rooms.first?.string == "!r\(Limits.breadcrumbs):t")
    let listed = (0...Limits.breadcrumbs).map { #""!r\#($0):t""# }.joined(separator: ",")
    let read = Breadcrumbs(content: try JSON.parse(Array(#"{"recent_rooms":[\#(listed),5]}"#.utf8)))
    #expect(read.rooms.count == Limits.breadcrumbs)
  }

  // MARK: Direct chats

  @Test func `a room is made direct and no more, and what other devices wrote meanwhile stays`() {
    var host = Self.visiting()
    host.command(.rooms(.setDirect(.test, with: UserID(trusted: "@bob:test"))), id: 11)
    host.command(.rooms(.setDirect(Self.roomB, with: UserID(trusted: "@alice:test"))), id: 12)
    host.answer("/account_data/m.direct", #"{"@carol:test":["!dm:test"],"email:x":["!q:test"]}"#)
    let sent = host.body("/account_data/m.direct")
    #expect(sent?["@bob:test"]?.elements.map { $0.string ?? "" } == ["!room:test"])
    #expect(sent?["@alice:test"]?.elements.map { $0.string ?? "" } == ["!b:t"])
    #expect(sent?["@carol:test"] != nil && sent?["email:x"] != nil)
    host.command(.rooms(.setDirect(.test, with: nil)), id: 13)
    #expect(host.request("/account_data/m.direct")?.request.method == .put)
    host.answer("/account_data/m.direct", "{}")
    #expect(host.result(11) == "done" && host.result(12) == "done" && host.result(13) == "nothing")
    host.answer("/account_data/m.direct", #"{"@bob:test":["!room:test"],"@alice:test":["!b:t"]}"#)
    #expect(host.body("/account_data/m.direct")?["@bob:test"] == nil)
    #expect(host.body("/account_data/m.direct")?["@alice:test"] != nil)
    host.answer("/account_data/m.direct", status: 500, "{}")
    #expect(host.result(13) != "nothing")
    host.sync(extra: #","account_data":{"events":[{"type":"m.direct","content":{"@alice:test":["!b:t"]}}]}"#)
    #expect(host.client.room(.test)?.isDirect == false)
    #expect(host.client.room(Self.roomB)?.directUserID?.string == "@alice:test")
  }

  @Test func `the end of the session ends changes of direct chats`() {
    var host = Self.visiting()
    host.command(.rooms(.setDirect(.test, with: UserID(trusted: "@bob:test"))), id: 11)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 12)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 13)
    host.command(.session(.logOut))
    for id: CommandID in [11, 12, 13] { #expect(host.result(id) == "notSignedIn") }
  }

  // MARK: The line in the list

  private static func delivery(_ host: Host) -> String {
    guard let preview = host.client.room(.test)?.preview else { return "none" }
    let body = preview.content?.body.string ?? "-"
    switch preview.delivery {
    case .received: return body
    case .failed: return body + " failed"
    default: return body + " under way"
    }
  }

  // Proves W9
  @Test func `an own message shows in the list while it is on its way, and moves the room`() {
    var host = Self.visiting()
    host.command(.timeline(.closeRoom(.test)))
    var list = RoomListMirror(1, RoomListQuery(sections: [.all]), in: &host)
    host.sync(WireRoom.join([WireRoom("!b:t", time: Int(host.now) + 5)]))
    host.now += 1000
    list.follow(&host)
    #expect(list.names == [["!b:t", "!room:test"]])
    let steps = host.steps(of: &list) { $0.command(.sending(.send(.test, .text("mine")))) }
    #expect(steps.first == .moved(.test, from: RoomListPlace(.all, 1), to: RoomListPlace(.all, 0)))
    #expect(steps.dropFirst().allSatisfy { $0 == .updated(.test, at: RoomListPlace(.all, 0)) })
    #expect(Self.delivery(host) == "mine under way")
    #expect(host.client.room(.test)?.preview?.sender.string == "@me:test")
    let next = host.restarted()
    #expect(Self.delivery(next) == "mine under way")
    let transaction = host.transaction
    host.answer("/send/", #"{"event_id":"$m"}"#)
    host.sync(Wire.join([Wire.message("mine", "$m", by: "@me:test", time: Int(host.now), transaction: transaction)]))
    #expect(Self.delivery(host) == "mine")
    #expect(host.client.room(.test)?.hasUnsent == false)
  }

  @Test func `a message that could not be sent shows as such until something newer comes`() {
    var host = Self.visiting()
    host.command(.sending(.send(.test, .text("mine"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(Self.delivery(host) == "mine failed")
    #expect(host.client.room(.test)?.hasUnsent == true)
    host.sync(Wire.join([Wire.message("newer", "$n", time: Int(host.now) + 5)]))
    #expect(Self.delivery(host) == "newer")
    #expect(host.client.room(.test)?.hasUnsent == true)
    #expect(host.restarted().client.room(.test)?.hasUnsent == true)
    host.command(.timeline(.openRoom(.test)))
    for item in host.items() where describeShort(item).hasSuffix("failed") {
      host.command(.sending(.cancel(.test, .item(item.id))))
    }
    #expect(host.client.room(.test)?.hasUnsent == false)
  }
}
