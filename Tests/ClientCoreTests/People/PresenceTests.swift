import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct PresenceTests {
  static let alice = UserID(trusted: "@alice:test")

  @Test func `presence is asked for and kept only where somebody wants it`() {
    var host = Host.inRoom()
    #expect(host.request("/sync?")?.request.target.contains("presence") == true)
    let held = host.request("/sync?")?.id
    host.handle(.presenceWanted(true))
    #expect(host.waiting.allSatisfy { $0.id != held })
    #expect(host.request("/sync?")?.request.target.contains("presence") == false)
    let now = host.now
    host.sync(
      extra:
        #","presence":{"events":[{"type":"m.presence","sender":"@alice:test","content":{"presence":"unavailable","status_msg":"At tea","last_active_ago":5000,"currently_active":false}}]}"#
    )
    let known = host.client.presence(of: Self.alice)
    #expect(known?.presence == .unavailable)
    #expect(known?.message == "At tea")
    #expect(known?.lastActiveAgoMilliseconds(now: now + 1000) == 6000)
    #expect(known?.isCurrentlyActive == false)
    #expect(host.changes.contains { if case .presence([Self.alice]) = $0 { true } else { false } })
  }

  // Proves P24
  @Test(arguments: [Presence.online, .unavailable, .offline]) func `the user's presence goes with every sync`(
    presence: Presence
  ) {
    var host = Host.inRoom()
    host.command(.people(.setPresence(presence, message: "Busy")))
    #expect(host.body("/presence/")?["presence"]?.string == presence.name)
    #expect(host.body("/presence/")?["status_msg"]?.string == "Busy")
    host.sync()
    let target = host.request("/sync?")?.request.target ?? ""
    #expect(target.contains("set_presence=\(presence.name)") == (presence != .online))
  }

  @Test func `the user's presence goes with every sliding sync as well`() {
    var host = Host.sliding([Sliding.first([Wire.message("one", "$1")])])
    host.command(.people(.setPresence(.offline, message: nil)))
    host.slide()
    #expect(host.slidingTarget?.contains("set_presence=offline") == true)
  }

  // Proves P24
  @Test func `who does not want it tells nobody that they write, and what was told before ends`() {
    var host = Host.inRoom()
    host.command(.sending(.setTyping(.test, true)))
    host.answer("/typing/", "{}")
    host.command(.sending(.setTypingNotices(false)))
    host.command(.sending(.setTyping(.test, false)))
    #expect(host.body("/typing/")?["typing"]?.bool == false)
    host.answer("/typing/", "{}")
    host.now += Limits.typingRefreshMilliseconds
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.request("/typing/") == nil)
  }

  @Test func `typing is reported again while the user types, and ends`() {
    var host = Host.inRoom()
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.body("/typing/")?["typing"]?.bool == true)
    host.answer("/typing/", "{}")
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.request("/typing/") == nil)
    host.now += Limits.typingRefreshMilliseconds
    host.command(.sending(.setTyping(.test, true)))
    host.answer("/typing/", "{}")
    host.command(.sending(.setTyping(.test, false)))
    #expect(host.body("/typing/")?["typing"]?.bool == false)
  }

  @Test func `who knocks is listed with why, and gone once let in`() {
    var host = Host.inRoom()
    let knock = Wire.event(
      "m.room.member", "$k", by: "@carol:test", #"{"membership":"knock","reason":"Tea?"}"#, stateKey: "@carol:test")
    host.sync(Wire.join([knock]))
    for host in [host, host.restarted()] {
      var host = host
      host.command(.timeline(.openRoom(.test)))
      #expect(host.client.room(.test)?.knockingMembers.map { $0.userID.string } == ["@carol:test"])
      #expect(host.client.room(.test)?.knockingMembers.first?.reason == "Tea?")
    }
    host.changes = []
    host.sync(Wire.join([Wire.member("@carol:test", "invite", "$i")]))
    #expect(host.client.room(.test)?.knockingMembers.isEmpty == true)
    let told = host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.members) } else { false } }
    #expect(told)
  }
}
