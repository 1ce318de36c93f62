import MatrixModel
import Testing

@testable import ClientCore

/// Synapse says in sliding sync that nothing is unread, whatever is.
@Suite struct UncountedTests {
  private let ownReceipt =
    #""receipts":{"rooms":{"!room:test":{"type":"m.receipt","content":{"$1":{"m.read":{"@me:test":{"ts":1}}}}}}}"#
  private let rules =
    #""account_data":{"global":[{"type":"m.push_rules","content":{"global":{"underride":["#
    + #"{"rule_id":".m.rule.message","default":true,"enabled":true,"conditions":[{"kind":"event_match","key":"type","pattern":"m.room.message"}],"#
    + #""actions":["notify"]}]}}}],"rooms":{}}"#

  @Test func `a room counts its own unread messages where the server counts none`() {
    var host = Host.signedIn(mode: .sliding)
    host.slide([Sliding.first([Wire.message("one", "$1"), Wire.message("two", "$2")])], extensions: rules + "," + ownReceipt)
    #expect(host.client.room(.test)?.notificationCount == 1)
    host.slide([Sliding.room("!room:test", [Wire.message("three", "$3")])])
    #expect(host.client.room(.test)?.notificationCount == 2)
    #expect(host.restarted().client.room(.test)?.notificationCount == 2)
    host.slide([], extensions: ownReceipt.replacing("$1", with: "$3"))
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  @Test func `what the server counts is divided by the threads that are known`() {
    var host = Host.signedIn(mode: .sliding)
    func message(_ id: String, thread: String? = nil) -> String {
      let relation = thread.map { #","m.relates_to":{"rel_type":"m.thread","event_id":"\#($0)"}"# } ?? ""
      return Wire.event("m.room.message", id, #"{"msgtype":"m.text","body":"x"\#(relation)}"#)
    }
    let events = [message("$1"), message("$2", thread: "$1"), message("$3", thread: "$1"), message("$4", thread: "$0")]
    func room(_ count: Int) -> String {
      Sliding.first(events).replacing(#""notification_count":0"#, with: #""notification_count":\#(count)"#)
    }
    host.slide([room(5)], extensions: rules)
    var counts = host.client.room(.test)?.unreadCounts
    #expect(counts?.threads[EventID(trusted: "$1")]?.notifications == 2)
    #expect(counts?.threads[EventID(trusted: "$0")]?.notifications == 1)
    #expect(counts?.main.notifications == 2)
    #expect(host.restarted().client.room(.test)?.unreadCounts == counts)
    host.slide([room(2)])
    counts = host.client.room(.test)?.unreadCounts
    #expect(counts?.total.notifications == 2)
    #expect(counts?.main.notifications == 0)
    host.slide([room(0)])
    #expect(host.client.room(.test)?.unreadCounts == UnreadCounts())
  }

  @Test func `a thread that was read is told of when it has been counted, though the sum is the server's and stays`() {
    var host = Host.signedIn(mode: .sliding)
    let reply = Wire.event(
      "m.room.message", "$2", #"{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#)
    func counted(_ count: Int, _ room: String) -> String {
      room.replacing(#""notification_count":0"#, with: #""notification_count":\#(count)"#)
    }
    host.slide([counted(2, Sliding.first([Wire.message("one", "$1"), reply]))], extensions: rules)
    let root = EventID(trusted: "$1")
    #expect(host.client.room(.test)?.unreadCounts.threads[root]?.notifications == 1)
    host.loadsAtOnce = false
    let receipt = ownReceipt.replacing(#""$1":"#, with: #""$2":"#).replacing(#""ts":1"#, with: #""ts":1,"thread_id":"$1""#)
    host.slide([counted(1, Sliding.room())], extensions: receipt)
    #expect(host.client.room(.test)?.notificationCount == 1)
    host.changes = []
    host.finishLoads()
    #expect(host.client.room(.test)?.unreadCounts.threads[root] == nil)
    let isTold = host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.unread) } else { false } }
    #expect(isTold)
  }

  @Test(arguments: [false, true])
  func `who reacts to a message in a thread, or changes it, has read that thread and not the room`(isEdit: Bool) {
    var host = Host.signedIn(mode: .sliding)
    let sender = isEdit ? "@me:test" : "@alice:test"
    let inThread = Wire.event(
      "m.room.message", "$2", by: sender,
      #"{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#)
    let own =
      isEdit
      ? Wire.event(
        "m.room.message", "$5", by: "@me:test",
        #"{"msgtype":"m.text","body":"* y","m.new_content":{"msgtype":"m.text","body":"y"},"#
          + #""m.relates_to":{"rel_type":"m.replace","event_id":"$2"}}"#)
      : Wire.event(
        "m.reaction", "$5", by: "@me:test", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$2","key":"+"}}"#)
    host.slide(
      [
        Sliding.first([
          Wire.message("zero", "$0", by: "@me:test"), Wire.message("one", "$1"), inThread, Wire.message("three", "$3")
        ])
      ],
      extensions: rules)
    #expect(host.client.room(.test)?.unreadCounts.main.notifications == 2)
    host.slide([Sliding.room("!room:test", [own])])
    #expect(host.client.room(.test)?.unreadCounts.main.notifications == 2)
    #expect(host.client.room(.test)?.unreadCounts.threads.isEmpty == true)
    // The same where all comes at once.
    var other = Host.signedIn(mode: .sliding)
    other.slide([Sliding.first([Wire.message("one", "$1"), inThread, Wire.message("three", "$3"), own])], extensions: rules)
    #expect(other.client.room(.test)?.unreadCounts == host.client.room(.test)?.unreadCounts)
    let reaction = Wire.event(
      "m.reaction", "$6", by: "@me:test", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$3","key":"+"}}"#)
    host.slide([Sliding.room("!room:test", [reaction])])
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  // Proves W6
  @Test func `what v3 has counted stands until it is counted here, also after a kill`() {
    var host = Host.signedIn(mode: .v3)
    let events = (1...5).map { Wire.message("\($0)", "$\($0)") }
    host.sync(
      Wire.join(
        events, state: Wire.members,
        extra: Wire.counts + #","unread_notifications":{"notification_count":9,"highlight_count":0}"#),
      extra: PushRuleSyncTests.accountData(PushRuleSet(defaultsFor: UserID(trusted: "@me:test"))))
    host = host.restarted(mode: .sliding)
    host.loadsAtOnce = false
    host.slide([Sliding.first(events)])
    #expect(host.client.room(.test)?.notificationCount == 9)
    host = host.restarted()
    #expect(host.client.room(.test)?.notificationCount == 5)
    let stored = host.store
    host = host.restarted()
    #expect(host.store == stored)
    #expect(host.client.room(.test)?.state.isMiscounted == false)
  }

  @Test func `a server that has counted once is believed, also after a restart`() {
    var host = Host.signedIn(mode: .sliding)
    let one = #""notification_count":0"#
    host.slide(
      [Sliding.first([Wire.message("one", "$1")]).replacing(one, with: #""notification_count":7"#)], extensions: rules)
    #expect(host.client.room(.test)?.notificationCount == 7)
    host = host.restarted()
    #expect(host.client.room(.test)?.notificationCount == 7)
    host.slide([Sliding.room("!room:test", [Wire.message("two", "$2")])])
    #expect(host.client.room(.test)?.notificationCount == 0)
  }
}
