import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Events that nobody should send.
struct HostileCallTests {
  private let types = [
    "m.call.invite", "m.call.answer", "m.call.select_answer", "m.call.reject", "m.call.hangup", "m.call.candidates",
    "m.call.negotiate", "m.call.sdp_stream_metadata_changed", "m.call.nothing"
  ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func malformedEventsEndNothingAndTrapNothing(seed: UInt64) {
    let simulation = Simulation(seed: seed)
    let room = TestRoom(simulation)
    let (ann, bob) = (room.phone("ann", of: "@ann:a"), room.phone("bob", of: "@bob:b"))
    ann.place()
    simulation.run(for: 1_000)
    if seed % 2 == 0 { bob.answer() }
    simulation.run(for: 3_000)
    let genuine = room.sent
    let state = ann.call?.state
    for _ in 0..<200 {
      let entry = genuine[Int(simulation.below(Int64(genuine.count)))]
      var bytes = entry.content
      for _ in 0...simulation.below(3) { mutate(&bytes, simulation) }
      for sender in ["@ann:a", "@bob:b", "@eve:e"] {
        let type = types[Int(simulation.below(Int64(types.count)))]
        let event = MatrixCallEvent(
          room: room.id, sender: UserID(sender)!, type: EventType(type)!,
          content: sender == "@eve:e" ? bytes : Array(bytes.dropLast()), ageMilliseconds: simulation.chance(50) ? .max : .min)
        ann.put(.event(event))
        bob.put(.event(event))
      }
      ann.put(.synced)
    }
    // Strangers speak for nobody once somebody has answered.
    if seed % 2 == 0 { #expect(ann.call?.state == state) }
  }

  private func mutate(_ bytes: inout [UInt8], _ simulation: Simulation) {
    guard !bytes.isEmpty else { return }
    let at = Int(simulation.below(Int64(bytes.count)))
    switch simulation.below(4) {
    case 0: bytes[at] = UInt8(simulation.below(256))
    case 1: bytes.remove(at: at)
    case 2: bytes.removeSubrange(at...)
    default: bytes.insert(contentsOf: Array("-9223372036854775808".utf8), at: at)
    }
  }

  @Test func onlyTheOtherPartyIsHeard() throws {
    let simulation = Simulation(seed: 3)
    let room = TestRoom(simulation)
    let (ann, bob) = (room.phone("ann", of: "@ann:a"), room.phone("bob", of: "@bob:b"))
    ann.place()
    simulation.run(for: 1_000)
    bob.answer()
    simulation.run(for: 3_000)
    let id = try #require(ann.call?.id.string)
    let party = try #require(room.contents(of: "m.call.answer").first?["party_id"]?.string)
    for (user, claimed) in [("@eve:e", party), ("@bob:b", "another"), ("@ann:a", party)] {
      for type in types {
        room.send(
          user, type,
          #"{"call_id":"\#(id)","version":"1","party_id":"\#(claimed)","selected_party_id":"x","reason":"user_hangup","#
            + #""candidates":[{"candidate":"evil","sdpMid":"0"}],"sdp_stream_metadata":{},"lifetime":60000,"#
            + #""description":{"type":"offer","sdp":"v=0\na=inactive\n"},"answer":{"sdp":"v=0"},"offer":{"sdp":"v=0"}}"#)
      }
    }
    simulation.run(for: 3_000)
    #expect(ann.call?.state == .connected && ann.call?.isHeldByOpponent == false)
    #expect(ann.call?.remote.count == 1 && ann.host.peers.values.first?.candidates.isEmpty == true)
  }

  @Test func candidatesAreKeptInBounds() {
    let simulation = Simulation(seed: 4)
    let room = TestRoom(simulation)
    let bob = room.phone("bob", of: "@bob:b")
    room.send(
      "@ann:a", "m.call.invite",
      #"{"call_id":"x","version":"1","party_id":"p","lifetime":60000,"offer":{"type":"offer","sdp":"v=0\n"}}"#)
    let some = Array(repeating: #"{"candidate":"c","sdpMid":"0"}"#, count: 100).joined(separator: ",")
    for _ in 0..<10 {
      room.send("@ann:a", "m.call.candidates", #"{"call_id":"x","version":"1","party_id":"p","candidates":[\#(some)]}"#)
    }
    simulation.run(for: 1_000)
    #expect(bob.call?.incoming.count == CallLimits.candidates)
    bob.answer()
    simulation.run(for: 1_000)
    #expect(bob.host.peers.values.first?.candidates.count == CallLimits.candidates && bob.call?.incoming.isEmpty == true)
  }
}
