import Foundation
import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// Four devices do anything in any order, lose requests and answers, and crash between any two batches.
///
/// `MARTLET_LONG=1` goes through 1,000 seeds.
@Suite struct CrashTests {
  private static let seeds = ProcessInfo.processInfo.environment["MARTLET_LONG"] == "1" ? 1_000 : 60
  private static let steps = 120
  private static let carol = UserID(trusted: "@carol:one.example")

  private struct Play {
    let seed: Int
    let server = ModelServer()
    let hosts: [TestHost]
    var random: RepeatableRandom
    var now: Int64 = 1_000_000
    var written: [UInt64: [String]] = [:]

    init(seed: Int) throws {
      self.seed = seed
      random = RepeatableRandom(seed: UInt64(seed))
      server.members = [ann, bob, CrashTests.carol]
      let devices = [(ann, "DESK"), (ann, "PHONE"), (bob, "PHONE"), (CrashTests.carol, "LAPTOP")]
      hosts = devices.map { [server] in TestHost($0.0, $0.1, at: server, seed: "\(seed)", now: 0) }
      let content = try parsed(#"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":7}"#)
      for host in hosts {
        host.handle(.encryption(ModelServer.room, content), at: now)
        host.handle(.track(server.members), at: now)
      }
      try server.settle(hosts, at: &now)
    }

    mutating func step(_ number: Int) throws {
      let host = hosts[Int.random(in: hosts.indices, using: &random)]
      // Nobody's patience ends: then a message would go without those who are waited for.
      now += Int64.random(in: 0...50, using: &random)
      host.answersLoads = Bool.random(using: &random)
      if Int.random(in: 0..<12, using: &random) == 0 {
        host.crash = Bool.random(using: &random) ? .beforeWriting : .afterWriting
      }
      let place = Int.random(in: 0..<max(1, host.requests.count), using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<4: host.sync(limit: Int.random(in: 1...5, using: &random), at: now)
      case 4..<9: try host.ask(place, at: now)
      case 9: try host.lose(place, arrives: Bool.random(using: &random), at: now)
      case 10..<13: host.load(at: now)
      case 13..<15: try host.read(at: now)
      case 15: host.handle(.woken, at: now)
      case 16..<18: try host.send()
      case 18:
        if server.members.contains(host.name.user) { try host.write("\(number) by \(host.name.device)", at: now) }
      case 19 where number % 2 == 0: hosts[Int.random(in: 2...3, using: &random)].begin(.setUpIdentity, at: now)
      default:
        if number > 60, server.members.count == 3, Int.random(in: 0..<10, using: &random) == 0 { server.members = [ann, bob] }
      }
    }

    mutating func settle() throws {
      for host in hosts {
        (host.crash, host.answersLoads) = (nil, true)
        host.load(at: now)
      }
      for host in hosts.dropFirst(2) {
        // What was lost has made it pause.
        host.handle(.reachable, at: now)
        host.begin(.setUpIdentity, at: now)
      }
      do {
        try server.settle(hosts, at: &now)
      } catch {
        Issue.record(
          "seed \(seed): \(hosts.map { "\($0.name.device) \($0.isIdle) \($0.requests.count) \($0.durable.unencrypted)" })")
        throw error
      }
    }

    func check() throws {
      let bodies = hosts.map(\.bodies)
      for (place, event) in server.events.enumerated() {
        let id = EventID(trusted: ByteString("$\(place)"))
        let (name, number) = try #require(server.writer(of: id))
        let writer = try #require(hosts.first { "\($0.name)" == name })
        let readers = try #require(writer.readers[number]) + [writer.name.user]
        for host in hosts {
          let clear = host.durable.clear[id]
          if readers.contains(host.name.user) {
            let reason = host.durable.unread[id]?.reason
            #expect(
              clear != nil, "seed \(seed): \(host.name.device) cannot read \(number) by \(name): \(String(describing: reason))")
          } else {
            #expect(clear == nil, "seed \(seed): \(host.name.device) reads \(event)")
          }
        }
      }
      for host in hosts.dropFirst(2) {
        #expect(host.machine.encryptionState.isVerified, "seed \(seed): \(host.name.device) has its identity")
      }
      #expect(bodies[0].count == server.events.count && Set(bodies[0]).count == bodies[0].count, "seed \(seed): each once")
    }
  }

  // An index used twice would be a replay for its readers.
  @Test
  func `whatever is lost and whoever crashes, everybody entitled reads everything in the end, once, and nobody else does`()
    throws
  {
    var events = 0
    for seed in 1...Self.seeds {
      var play = try Play(seed: seed)
      for number in 1...Self.steps { try play.step(number) }
      try play.settle()
      try play.check()
      events += play.server.events.count
    }
    #expect(events > Self.seeds)
  }
}

/// SplitMix64.
private struct RepeatableRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
