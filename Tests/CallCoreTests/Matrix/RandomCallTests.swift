import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Runs from a seed: whatever people do and however slowly events travel, all devices end up of one mind.
struct RandomCallTests {
  // Proves M35
  @Test(arguments: 1...150 as ClosedRange<UInt64>)
  func whereTwoCallEachOtherOneCallGoesOn(seed: UInt64) {
    let simulation = Simulation(seed: seed)
    let room = TestRoom(simulation)
    room.delay = 1...(seed % 3 == 0 ? 3_000 : 150)
    let (ann, bob) = (room.phone("ann", of: "@ann:a"), room.phone("bob", of: "@bob:b"))
    // The person on the other device does nothing.
    let tablet = seed % 4 == 0 ? room.phone("tablet", of: "@bob:b") : nil
    ann.place(seed % 2 == 0 ? "@bob:b" : nil)
    simulation.run(for: simulation.below(400))
    bob.place()
    simulation.run(for: 100_000)
    let (one, other) = (ann.calls.calls.filter { $0.state == .connected }, bob.calls.calls.filter { $0.state == .connected })
    #expect(one.count == 1 && other.count == 1 && one.first?.id == other.first?.id, "seed \(seed)")
    #expect(ann.host.captured.count == 1 && bob.host.captured.count == 1 && ann.host.peers.count == 1)
    #expect(ann.host.peers.values.first?.attached.count == 2 && bob.host.peers.values.first?.attached.count == 2)
    #expect(tablet?.call == nil)
    let invites = room.contents(of: "m.call.invite").compactMap { $0["call_id"]?.text }
    #expect(one.first?.id == invites.min(), "the lesser call of the two")
  }

  @Test func theRunsAreWorthIt() {
    var talking = 0
    var ways: [MatrixCallEnd] = []
    for seed in 1...40 as ClosedRange<UInt64> {
      let run = Run(seed: seed)
      run.go()
      talking += run.phones.filter { $0.call?.state == .connected }.count
      for phone in run.phones { for end in phone.ends.values where !ways.contains(end) { ways.append(end) } }
    }
    #expect(talking > 20, "some calls last to the end")
    for end in [.hungUp, .rejected, .rejectedElsewhere, .answeredElsewhere, .unanswered, .replaced] as [MatrixCallEnd] {
      #expect(ways.contains(end), "\(end)")
    }
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func allEndOfOneMind(seed: UInt64) {
    let run = Run(seed: seed)
    run.go()
    run.check()
    run.hangUp()
  }

  final class Run {
    let simulation: Simulation
    let room: TestRoom
    let phones: [TestPhone]

    init(seed: UInt64) {
      simulation = Simulation(seed: seed)
      room = TestRoom(simulation)
      room.delay = 1...(seed % 3 == 0 ? 5_000 : 200)
      var phones = [room.phone("ann", of: "@ann:a"), room.phone("bob", of: "@bob:b")]
      if seed % 2 == 0 { phones.append(room.phone("tablet", of: "@bob:b")) }
      if seed % 5 == 0 { phones.append(room.phone("cid", of: "@cid:c")) }
      self.phones = phones
      for phone in phones {
        phone.syncs = 1...(seed % 7 == 0 ? 2_000 : 100)
        phone.onRing = { [unowned self, unowned phone] call in rings(phone, call.handle) }
      }
    }

    private func rings(_ phone: TestPhone, _ handle: CallHandle) {
      let choice = simulation.below(10)
      simulation.after(simulation.between(10, 8_000)) { [unowned phone] in
        let isFree = !phone.calls.calls.contains { $0.isAnswered }
        if choice < 6, isFree { phone.put(.command(.answer(handle, audio: true, video: choice < 4))) }
        if choice == 6 { phone.put(.command(.reject(handle))) }
        if choice == 7 { phone.put(.command(.busy(handle))) }
      }
    }

    func go() {
      for _ in 0..<60 {
        simulation.run(for: simulation.below(4_000))
        let phone = phones[Int(simulation.below(Int64(phones.count)))]
        act(phone)
      }
      // Longer than any invite lives and any connection may take.
      simulation.run(for: 300_000)
    }

    private func act(_ phone: TestPhone) {
      let isFree = phone.calls.calls.allSatisfy { $0.isEnded }
      switch simulation.below(8) {
      case 0...2: if isFree { phone.place(simulation.chance(30) ? "@bob:b" : nil, video: simulation.chance(60)) }
      case 3: if simulation.chance(40) { phone.order { .hangUp($0) } }
      case 4: phone.order { .mute($0, audio: simulation.chance(50), video: simulation.chance(50)) }
      case 5: phone.order { .shareScreen($0, simulation.chance(60)) }
      case 6: phone.order { .hold($0, simulation.chance(50)) }
      default: phone.order { .hold($0, false) }
      }
    }

    /// Who talks, talks with one who talks with them, of the same call; everybody else has ended.
    func check() {
      for phone in phones {
        for call in phone.calls.calls where !call.isEnded {
          #expect(call.state == .connected, "\(phone.name)")
          guard let (other, peer) = room.opposite(of: phone, call.handle), let opposite = other.calls.call(peer) else {
            Issue.record("\(phone.name) talks with nobody")
            continue
          }
          #expect(opposite.state == .connected && opposite.id == call.id && opposite.opponent == phone.user)
          #expect(Set(call.remote.map(\.stream)) == Set(opposite.local.compactMap { $0.media?.stream }))
          #expect(
            Set(phone.host.peers[call.handle]?.attached.values ?? [:].values) == Set(call.remote.map { $0.stream.string }))
          for media in opposite.local {
            let seen = call.remote.first { $0.stream == media.media?.stream }
            #expect(seen?.isAudioMuted == (media.isAudioMuted || media.media?.hasAudio != true))
          }
          #expect(call.isHeldByOpponent == opposite.isOnHold)
        }
        #expect(phone.host.peers.count == phone.calls.calls.filter { !$0.isEnded }.count)
        #expect(phone.host.captured.count == phone.calls.calls.reduce(0) { $0 + $1.local.count })
      }
    }

    func hangUp() {
      for phone in phones { for call in phone.calls.calls { phone.put(.command(.hangUp(call.handle))) } }
      simulation.run(for: 60_000)
      for phone in phones {
        #expect(phone.call == nil && phone.host.peers.isEmpty && phone.host.captured.isEmpty)
      }
    }
  }
}
