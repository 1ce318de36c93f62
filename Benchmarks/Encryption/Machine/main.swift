import Encryption
import JSON
import MatrixModel
import Olm

/// What the encryption machine costs natively: the figures of Documentation/Decisions/0023-encryption.md.
///
///     swift run -c release encryption-benchmark
///
/// Each line is the best of five rounds.

struct Step {
  let name: String
  let unit: String
  /// How many units a round has.
  let count: Int
  /// Returns the milliseconds of a round.
  let round: () -> Double
}

let clock = ContinuousClock()

func milliseconds(_ body: () -> Void) -> Double {
  let time = clock.measure(body)
  return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
}

let steps = [
  Step(name: "a room's key to 1,000 devices, sessions to be made", unit: "device", count: 1_000) {
    var room = SharedRoom(devices: 1_000)
    return milliseconds { room.share() }
  },
  Step(name: "the next key to 1,000 devices, sessions there", unit: "device", count: 1_000) {
    var room = SharedRoom(devices: 1_000)
    room.share()
    return milliseconds { room.shareAgain() }
  },
  Step(name: "an answer with 2,000 devices, signatures checked", unit: "device", count: 2_000) {
    var room = SharedRoom(devices: 2_000, learns: false)
    return milliseconds { room.learn() }
  },
  Step(name: "1,000 events of a room decrypted in one batch", unit: "event", count: 1_000) {
    var room = SharedRoom(devices: 1)
    room.share()
    let events = room.write(1_000)
    return milliseconds { room.read(events) }
  },
  Step(name: "a message encrypted, the key shared, to the records", unit: "message", count: 90) {
    var room = SharedRoom(devices: 10)
    room.share()
    return milliseconds { _ = room.write(90) }
  }
]

for step in steps {
  var best = Double.infinity
  for _ in 0..<5 { best = min(best, step.round()) }
  let each = Int(best * 1e3 / Double(step.count))
  print("\(step.name): \(Int(best + 0.5)) ms, \(each) µs a \(step.unit)")
}
