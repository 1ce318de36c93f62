import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Who is in a room's call, and what is told of it afterwards.
struct RoomCallTests {
  private let hour: Int64 = 3_600_000

  private func event(_ json: String) -> Event { Event(try! JSON.parse(Array(json.utf8)))! }

  private func member(_ user: String, _ device: String, at time: Int64, _ content: [UInt8]? = nil) -> Event {
    let own =
      content
      ?? CallMembership.joining(
        DeviceID(device)!, over: [CallTransport(server: ServerName("\(user).test")!)], wantsVideo: true)
    return event(
      #"{"type":"org.matrix.msc3401.call.member","event_id":"$\#(user)\#(device)\#(time)","sender":"@\#(user):test","#
        + #""state_key":"_@\#(user):test_\#(device)_m.call","origin_server_ts":\#(time),"content":\#(String(decoding: own, as: UTF8.self))}"#
    )
  }

  private func names(_ call: RoomCall, at time: Int64) -> [String] {
    call.members(at: time).map { "\($0.user.localpart)/\($0.device)" }
  }

  // Proves M39
  @Test func devicesComeAndGo() {
    var call = RoomCall()
    call.take(member("ann", "A", at: 100))
    call.take(member("bob", "B", at: 50))
    call.take(member("bob", "C", at: 200))
    #expect(names(call, at: 300) == ["bob/B", "ann/A", "bob/C"])
    #expect(call.transport(at: 300)?.server == ServerName("bob.test"), "the oldest member's")
    call.take(member("bob", "B", at: 400, CallMembership.leaving))
    #expect(names(call, at: 500) == ["ann/A", "bob/C"] && call.transport(at: 500)?.server == ServerName("ann.test"))
    call.take(event(#"{"type":"m.room.member","sender":"@bob:test","state_key":"@bob:test","content":{"membership":"leave"}}"#))
    call.take(event(#"{"type":"m.room.member","sender":"@ann:test","state_key":"@ann:test","content":{"membership":"join"}}"#))
    #expect(names(call, at: 500) == ["ann/A"])
  }

  // Proves A18
  @Test func whoGoesWithoutAWordExpires() {
    var call = RoomCall()
    call.take(member("ann", "A", at: 0))
    let renewed = CallMembership.joining(
      DeviceID("A")!, over: [], wantsVideo: false, createdAt: 0, lifetimeMilliseconds: 8 * hour)
    #expect(call.nextExpiry(after: 0) == 4 * hour)
    #expect(call.isActive(at: 4 * hour - 1) && !call.isActive(at: 4 * hour))
    call.take(member("ann", "A", at: 3 * hour, renewed))
    #expect(call.members(at: 0).first?.createdAt == 0 && call.nextExpiry(after: 0) == 8 * hour)
    #expect(call.members(at: 0).first?.wantsVideo == false && call.transport(at: 0) == nil)
    #expect(call.nextExpiry(after: 8 * hour) == nil)
  }

  // Proves M39
  @Test func whatOtherClientsWriteIsRead() throws {
    let content = #"""
      {"application":"m.call","call_id":"","scope":"m.room","device_id":"D","expires":7200000,"m.call.intent":"audio",
       "focus_active":{"type":"livekit","focus_selection":"oldest_membership"},
       "foci_preferred":[{"type":"livekit","livekit_service_url":"https://example.org","livekit_alias":"!r:test"},{"x":1}]}
      """#
    let membership = try #require(CallMembership(member("eve", "D", at: 1_000, Array(content.utf8))))
    #expect(membership.expiresAt == 7_201_000 && membership.transports.map(\.type) == ["livekit"])
    #expect(membership.wantsVideo == false && membership.transports.first?.server == nil)
    var call = RoomCall()
    call.take(member("eve", "D", at: 1_000, Array(content.utf8)))
    #expect(call.transport(at: 2_000) == nil && call.transport(at: 2_000, type: "livekit") != nil)
  }

  @Test(arguments: [
    "{}", #"{"application":"m.call","call_id":""}"#, #"{"application":"m.other","call_id":"","device_id":"D"}"#,
    #"{"application":"m.call","call_id":"breakout","device_id":"D"}"#, #"{"application":7,"call_id":[],"device_id":{}}"#,
    #"{"memberships":[{"application":"m.call","call_id":"","device_id":"D"}]}"#
  ])
  func whatIsNoMembershipIsNobody(content: String) {
    #expect(CallMembership(member("eve", "D", at: 1, Array(content.utf8))) == nil)
  }

  @Test func absurdTimesTrapNothing() throws {
    for (created, expires) in [(Int64.max, Int64.max), (.min, .min), (.max - 1, 5), (0, .max), (-5, -5)] {
      let content = #"{"application":"m.call","device_id":"D","created_ts":\#(created),"expires":\#(expires)}"#
      var call = RoomCall()
      call.take(member("eve", "D", at: created, Array(content.utf8)))
      call.take(member("eve", "D", at: 5, Array(content.utf8)))
      _ = call.members(at: .max)
    }
    let long = #"{"application":"m.call","device_id":"D","created_ts":0,"expires":\#(Int64.max)}"#
    let membership = try #require(CallMembership(member("eve", "D", at: 0, Array(long.utf8))))
    #expect(membership.expiresAt == CallLimits.longestMembershipMilliseconds)
  }

  @Test func oneDeviceIsThereOnce() {
    var call = RoomCall()
    call.take(member("ann", "A", at: 1))
    let other = member("ann", "A", at: 2)
    let json =
      #"{"type":"org.matrix.msc3401.call.member","sender":"@ann:test","state_key":"@ann:test_A","origin_server_ts":2,"content":\#(String(decoding: other.content.bytes, as: UTF8.self))}"#
    call.take(event(json))
    #expect(call.members(at: 3).count == 1)
    #expect(CallMembership.stateKey(UserID("@ann:test")!, DeviceID("A")!) == "_@ann:test_A_m.call")
  }

  @Test func membersAreLimited() {
    var call = RoomCall()
    for i in 0...CallLimits.callMembers { call.take(member("u\(i)", "D", at: 1)) }
    #expect(call.members(at: 2).count == CallLimits.callMembers)
  }
}
