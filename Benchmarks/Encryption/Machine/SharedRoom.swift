import Encryption
import JSON
import MatrixModel
import Olm

/// A machine in a room with many devices of others, and what a server would answer it.
struct SharedRoom {
  private let room = RoomID(trusted: "!room:example.org")
  private let ann = UserID(trusted: "@ann:example.org")
  private var users: [UserID] = []
  private var machine: EncryptionMachine
  private let devicesAnswer: JSON
  private let keysAnswer: JSON
  private let content: JSON
  private var queries: [MachineRequest] = []
  private var contents: [[UInt8]] = []

  /// - Parameter learns: whether the machine knows the devices.
  init(devices: Int, learns: Bool = true) {
    var random = SecretSource.repeating(seed: Array("devices".utf8))
    let listed = (0..<devices).map {
      PublishedDevice(DeviceID(trusted: "PHONE"), of: UserID(trusted: ByteString("@user\($0):example.org")), random: &random)
    }
    users = listed.map(\.user)
    devicesAnswer = Self.answer("device_keys", listed.map { ($0.user, $0.keys) })
    keysAnswer = Self.answer("one_time_keys", listed.map { ($0.user, $0.claimed) })
    machine = EncryptionMachine(user: ann, device: DeviceID(trusted: "DESK"), random: .repeating(seed: Array("ann".utf8)))
    guard let empty = try? JSON.object({ _ in }),
      let text = try? JSON.object({ $0.member("body", String(repeating: "a", count: 200)) })
    else { fatalError("no JSON") }
    content = text
    _ = machine.start(at: 0)
    let own = machine.handle(.loaded([]), at: 0)
    for request in own.requests { take(machine.handle(.answered(request.id, empty), at: 0)) }
    guard let encryption = try? JSON.object({ $0.member("algorithm", Algorithm.megolm) }) else { fatalError("no JSON") }
    _ = machine.handle(.encryption(room, encryption), at: 0)
    let output = machine.handle(.track(users), at: 0)
    queries = output.requests
    if learns { learn() }
  }

  private static func answer(_ name: StaticString, _ entries: [(UserID, JSON)]) -> JSON {
    let json = try? JSON.object { writer in
      writer.key(name)
      writer.object { writer in
        for (user, value) in entries {
          writer.key(user)
          writer.object { writer in
            writer.key("PHONE")
            writer.write(value)
          }
        }
      }
    }
    guard let json else { fatalError("no JSON") }
    return json
  }

  // MARK: Steps

  mutating func learn() {
    while !queries.isEmpty {
      let asked = queries
      queries = []
      for request in asked { take(machine.handle(.answered(request.id, devicesAnswer), at: 0)) }
    }
  }

  mutating func share() { take(machine.handle(.prepare(members), at: 0)) }

  mutating func shareAgain() {
    _ = machine.handle(.departed(room, []), at: 0)
    share()
  }

  private var members: RoomMembers { RoomMembers(room, users: users, sharesHistory: false) }

  mutating func write(_ count: Int) -> [EncryptedEvent] {
    contents = []
    for number in 0..<count { take(machine.handle(.encrypt(UInt64(number), members, .message, content), at: 0)) }
    return contents.enumerated().compactMap { number, content in
      let json = try? JSON.object { writer in
        writer.member("type", "m.room.encrypted")
        writer.member("event_id", "$\(number)")
        writer.member("sender", ann)
        writer.member("content", raw: content)
      }
      return json.flatMap { Event($0) }.flatMap { try? EncryptedEvent($0, in: room) }
    }
  }

  mutating func read(_ events: [EncryptedEvent]) {
    guard events.count > 0 else { fatalError("nothing was written") }
    for case .decrypted(_, let decrypted) in machine.handle(.decrypt(1, events), at: 0).results {
      guard decrypted.allSatisfy({ if case .success = $0.outcome { true } else { false } }) else { fatalError("not read") }
    }
  }

  /// As a host with a server that answers at once.
  private mutating func take(_ output: MachineOutput) {
    for case .encrypted(_, let content) in output.results { contents.append(content) }
    if !output.loads.isEmpty { take(machine.handle(.loaded([]), at: 0)) }
    for request in output.requests {
      switch "\(request.endpoint.pattern)" {
      case "\(Endpoint.claimKeys.pattern)": take(machine.handle(.answered(request.id, keysAnswer), at: 0))
      case "\(Endpoint.queryKeys.pattern)": queries.append(request)
      default: if let empty = try? JSON.object({ _ in }) { take(machine.handle(.answered(request.id, empty), at: 0)) }
      }
    }
  }
}
