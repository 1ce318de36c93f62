import CallCore
import JSON
import MatrixModel

let callChecks = [
  Check("Calls: a session greets, hears, and answers") {
    var session = CallSession(randomSeed: 7)
    _ = session.handle(.command(.connect(CallToken("t"), session: "s"), id: 1), now: 0)
    _ = session.handle(.socketOpened(1), now: 1)
    let greeting: StaticString = #"""
      {"type":"connected","connection":{"id":"c1","role":"publisher"},"key":"k","mode":"routed","connections":[{"id":"c2"}],
       "streams":[{"id":"s2","connection":"c2","has_audio":true,"has_video":true}]}
      """#
    let effects = session.handle(.text(1, greeting.withUTF8Buffer { Array($0) }), now: 2)
    return session.state == .connected && session.streams.count == 1 && asksForAnOffer(effects)
  },
  Check("Calls: an invite rings and is answered") {
    guard let user = UserID("@bob:b"), let sender = UserID("@ann:a"), let room = RoomID("!r:a") else { return false }
    var calls = MatrixCalls(user: user, randomSeed: 7)
    let content: StaticString =
      #"{"call_id":"x","version":"1","party_id":"p","lifetime":90000,"offer":{"type":"offer","sdp":"v=0\nm=video 9\n"}}"#
    let event = MatrixCallEvent(
      room: room, sender: sender, type: .callInvite, content: content.withUTF8Buffer { Array($0) }, ageMilliseconds: 5)
    _ = calls.handle(.event(event), now: 0)
    _ = calls.handle(.synced, now: 1)
    guard let call = calls.calls.first, call.state == .ringing, call.hasVideo else { return false }
    _ = calls.handle(.command(.answer(call.handle, audio: true, video: true)), now: 2)
    return calls.call(call.handle)?.state == .connecting
  },
  Check("Calls: a device is in a room's call until it leaves") {
    guard let device = DeviceID("D"), let server = ServerName("a") else { return false }
    let content = CallMembership.joining(device, over: [CallTransport(server: server)], wantsVideo: true)
    var call = RoomCall()
    take(content, into: &call)
    let wasThere = call.isActive(at: 1_000) && call.transport(at: 1_000)?.server == server
    take(CallMembership.leaving, into: &call)
    return wasThere && !call.isActive(at: 1_000)
  }
]

private func asksForAnOffer(_ effects: [SessionEffect]) -> Bool {
  effects.contains { effect in
    if case .media(.describe(_, _, .offer, _, _)) = effect { return true }
    return false
  }
}

private func take(_ content: [UInt8], into call: inout RoomCall) {
  let json = try? JSON.object { writer in
    writer.member("type", CallMembership.eventType)
    writer.member("sender", "@ann:a" as ByteString)
    writer.member("state_key", "_@ann:a_D_m.call" as ByteString)
    writer.member("origin_server_ts", 10)
    writer.member("content", raw: content)
  }
  if let json, let event = Event(json) { call.take(event) }
}
