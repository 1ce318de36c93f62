import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Clients that know version 0 only: no party IDs, no selection, no negotiation.
struct VersionZeroTests {
  let simulation = Simulation(seed: 12)
  let room: TestRoom
  let ann: TestPhone

  init() {
    room = TestRoom(simulation)
    ann = room.phone("ann", of: "@ann:a")
  }

  // Proves M34
  @Test func anOldClientIsCalled() throws {
    ann.place()
    simulation.run(for: 1_000)
    let id = try #require(ann.call?.id.string)
    room.send("@old:o", "m.call.answer", #"{"call_id":"\#(id)","version":0,"answer":{"type":"answer","sdp":"v=0\n"}}"#)
    room.send(
      "@old:o", "m.call.candidates",
      #"{"call_id":"\#(id)","version":0,"candidates":[{"candidate":"c","sdpMid":"0","sdpMLineIndex":0}]}"#)
    simulation.run(for: 1_000)
    #expect(ann.call?.state == .connecting && room.contents(of: "m.call.select_answer").isEmpty)
    ann.put(.media(.ice(1, .connected)))
    ann.put(.media(.trackArrived(1, mid: "0", stream: "x", .audio)))
    ann.put(.media(.trackArrived(1, mid: "1", stream: "y", .audio)))
    #expect(ann.host.peers[1]?.candidates == ["c"])
    #expect(ann.host.peers[1]?.attached == ["0": "x"], "only the first stream of a side that tells nothing of them")
    ann.order { .shareScreen($0, true) }
    ann.order { .hold($0, true) }
    ann.order { .mute($0, audio: true, video: nil) }
    simulation.run(for: 5_000)
    #expect(room.contents(of: "m.call.negotiate").isEmpty && room.contents(of: "m.call.sdp_stream_metadata_changed").isEmpty)
    #expect(ann.host.captured.values.first?.audio == false)
    room.send("@old:o", "m.call.hangup", #"{"call_id":"\#(id)","version":0}"#)
    simulation.run(for: 1_000)
    #expect(ann.ends[id] == .hungUpByOther(reason: "user_hangup"))
  }

  @Test(arguments: ["0", "\"1\"", "1", "\"org.new\"", "2"])
  func anyOtherVersionIsVersionOne(version: String) {
    room.send(
      "@old:o", "m.call.invite",
      #"{"call_id":"x","version":\#(version),"party_id":"p","lifetime":60000,"offer":{"type":"offer","sdp":"v=0\n"}}"#)
    simulation.run(for: 1_000)
    #expect(ann.call?.state == .ringing)
    ann.order { .reject($0) }
    simulation.run(for: 1_000)
    #expect(room.sent.last?.type == (version == "0" ? "m.call.hangup" : "m.call.reject"))
  }

  @Test func theOtherDeviceOfTheAccountUnderstandsARejectionByHangup() {
    let tablet = room.phone("tablet", of: "@ann:a")
    room.send("@old:o", "m.call.invite", #"{"call_id":"x","version":0,"lifetime":60000,"offer":{"sdp":"v=0\n"}}"#)
    simulation.run(for: 1_000)
    #expect(tablet.call?.state == .ringing)
    ann.order { .reject($0) }
    simulation.run(for: 1_000)
    #expect(tablet.ends["x"] == .rejectedElsewhere)
  }

  @Test func anOldClientsCallIsAnswered() {
    room.send("@old:o", "m.call.invite", #"{"call_id":"x","version":0,"lifetime":60000,"offer":{"sdp":"v=0\n"}}"#)
    simulation.run(for: 1_000)
    ann.answer()
    simulation.run(for: 1_000)
    #expect(room.sent.last?.type == "m.call.answer" && ann.call?.state == .connecting)
    ann.put(.media(.ice(1, .connected)))
    simulation.run(for: 5_000)
    #expect(ann.call?.state == .connected && room.contents(of: "m.call.negotiate").isEmpty)
  }
}
