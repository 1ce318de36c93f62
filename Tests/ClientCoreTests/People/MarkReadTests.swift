import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct MarkReadTests {
  static func unread(_ extra: String = "") -> Host {
    var host = Host.signedIn()
    let counts = #","unread_notifications":{"notification_count":2,"highlight_count":1}"#
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts + counts))
    return host
  }

  static let offers = #"{"capabilities":{"martlet.read_all":{"enabled":true}}}"#

  @Test func `a room is read to its newest event, which the server is asked for`() {
    var host = Self.unread()
    host.command(.reading(.markRead(.test)))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.answer("/messages?dir=b&limit=1", #"{"chunk":["# + Wire.message("two", "$2") + "]}")
    #expect(host.body("/read_markers")?["m.fully_read"]?.string == "$2")
    #expect(host.body("/read_markers")?["m.read"]?.string == "$2")
    host.answer("/read_markers", "{}")
    #expect(host.result() == "done")
    #expect(host.client.room(.test)?.notificationCount == 0)
    #expect(host.client.room(.test)?.highlightCount == 0)
  }

  @Test func `receipts that nobody is to see stay private`() {
    var host = Self.unread()
    host.command(.reading(.setPublicReceipts(false)))
    host.command(.reading(.markRead(.test)))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.answer("/messages?dir=b&limit=1", #"{"chunk":["# + Wire.message("two", "$2") + "]}")
    #expect(host.body("/read_markers")?["m.read.private"]?.string == "$2")
    #expect(host.body("/read_markers")?["m.read"] == nil)
  }

  @Test func `where the server marks all rooms at once that is one request`() {
    var host = Self.unread()
    host.command(.reading(.markRead(nil)))
    host.answer("/capabilities", Self.offers)
    #expect(host.body("/martlet.read_all")?["rooms"] == nil)
    host.answer("/martlet.read_all", #"{"rooms":1}"#)
    #expect(host.result() == "done")
    #expect(host.client.room(.test)?.notificationCount == 0)
    host.command(.reading(.markRead(.test)))
    #expect(host.body("/martlet.read_all")?["rooms"]?.elements.map { $0.string ?? "" } == ["!room:test"])
  }

  @Test func `all rooms one by one end once, with the first error`() {
    var host = Self.unread()
    let counts = #","unread_notifications":{"notification_count":1,"highlight_count":0}"#
    host.sync(Wire.join([Wire.message("x", "$x")], room: "!b:test", extra: counts))
    host.command(.reading(.markRead(nil)))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.answer("%21room", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result().contains("M_FORBIDDEN"))
    host.answer("%21b", #"{"chunk":[]}"#)
    #expect(host.result().contains("M_FORBIDDEN"))
  }

  @Test func `all rooms one by one end once with the session`() {
    var host = Self.unread()
    let counts = #","unread_notifications":{"notification_count":1,"highlight_count":0}"#
    host.sync(Wire.join([Wire.message("x", "$x")], room: "!b:test", extra: counts))
    host.command(.reading(.markRead(nil)), id: 11)
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.changes = []
    host.command(.session(.logOut))
    let ends = host.changes.filter { if case .commandFinished(11, _) = $0 { true } else { false } }
    #expect(ends.count == 1 && host.result(11) == "notSignedIn")
  }

  @Test func `a room that is marked as unread is read with the others, its mark with it`() {
    var host = Host.inRoom()
    host.command(.reading(.markUnread(.test, true)), id: 11)
    host.answer("/account_data/m.marked_unread", "{}")
    host.command(.reading(.markRead(nil)))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.answer("/messages?dir=b&limit=1", #"{"chunk":["# + Wire.message("two", "$2") + "]}")
    host.answer("/read_markers", "{}")
    #expect(host.result() == "done")
    #expect(host.body("/account_data/m.marked_unread")?["unread"]?.bool == false)
    #expect(host.client.room(.test)?.isUnread == false)
  }

  @Test func `marking as read does nothing if nothing is unread, and fails in a room that the user has not joined`() {
    var host = Host.inRoom()
    host.command(.reading(.markRead(nil)))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    #expect(host.result() == "done")
    host.command(.reading(.markRead(RoomID(trusted: "!none:test"))))
    #expect(host.result() == "unknownRoom")
  }

  @Test(arguments: [(true, 100, true), (true, 101, false), (false, 3, false)])
  func `what has reached the device is told where the server passes it on, in rooms that are not too large`(
    isOffered: Bool, members: Int, isTold: Bool
  ) {
    var host = Host.signedIn()
    host.sync(Wire.join([Wire.message("old", "$0")], extra: #","summary":{"m.joined_member_count":\#(members)}"#))
    host.command(.reading(.setDeliveryReceipts(true)))
    host.answer(
      "/capabilities",
      isOffered ? #"{"capabilities":{"martlet.delivered":{"enabled":true}}}"# : #"{"capabilities":{}}"#)
    #expect(host.result() == "done")
    host.sync(Wire.join([Wire.message("one", "$1"), Wire.message("two", "$2"), Wire.message("own", "$3", by: "@me:test")]))
    #expect((host.request("/receipt/martlet.delivered/%242") != nil) == isTold)
    host.command(.reading(.setDeliveryReceipts(false)))
    host.sync(Wire.join([Wire.message("four", "$4")]))
    #expect(host.request("/receipt/martlet.delivered/%244") == nil)
  }
}
