import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// Two devices that verify each other over the model server, with people who press buttons.
struct VerificationPlay {
  static let recoveryKey = Secret([UInt8](repeating: 7, count: 32))

  var world: World
  /// The one that asks, and the one that is asked.
  let one: TestHost
  let other: TestHost

  /// Ann's verified desk and her new tablet.
  static func ownDevices(hasBackup: Bool = false) throws -> VerificationPlay {
    var world = try World([(ann, "DESK")])
    let desk = world.hosts[0]
    try world.run(.setUpIdentity, by: desk)
    if hasBackup { try world.run(.setUpRecovery(recoveryKey, passphrase: nil), by: desk) }
    let tablet = TestHost(ann, "TABLET", at: world.server, now: world.now)
    tablet.handle(.encryption(ModelServer.room, try parsed(encryption)), at: world.now)
    world.hosts.append(tablet)
    try world.settle()
    return VerificationPlay(world: world, one: desk, other: tablet)
  }

  /// Ann's desk and Bob's phone, both with identities.
  static func people(isEncrypted: Bool = true) throws -> VerificationPlay {
    var world = try World([(ann, "DESK"), (bob, "PHONE")], encryption: isEncrypted ? encryption : "{}")
    if !isEncrypted { for host in world.hosts { host.machine.rooms = [:] } }
    for host in world.hosts {
      host.handle(.track(world.server.members), at: world.now)
      try world.run(.setUpIdentity, by: host)
    }
    return VerificationPlay(world: world, one: world.hosts[0], other: world.hosts[1])
  }

  mutating func settle() throws {
    world.server.time = world.now
    try world.settle()
  }

  // MARK: People

  mutating func begin(_ target: VerificationTarget, by host: TestHost? = nil) throws {
    let number = (host ?? one).begin(.verify(target), at: world.now)
    guard case .verification? = (host ?? one).outcome(of: number) else {
      throw World.Unfinished(outcome: (host ?? one).outcome(of: number))
    }
    try settle()
  }

  /// Begins with whom the play is about.
  mutating func begin() throws { try begin(target) }

  var target: VerificationTarget {
    one.name.user == other.name.user ? .ownDevice(other.name.device) : .user(other.name.user, in: ModelServer.room)
  }

  @discardableResult
  mutating func perform(_ step: VerificationStep, by host: TestHost) throws -> EncryptionFailure? {
    guard let view = host.verification else { throw World.Unfinished(outcome: nil) }
    let number = host.begin(.verification(view.id, step), at: world.now)
    let outcome = host.outcome(of: number)
    try settle()
    if case .failed(let reason)? = outcome { return reason }
    return nil
  }

  /// Up to emoji on both sides.
  mutating func compare(startedBy starter: TestHost? = nil) throws {
    try begin()
    try perform(.accept, by: other)
    try perform(.compare, by: starter ?? one)
  }

  mutating func confirm() throws {
    try perform(.confirm, by: one)
    try perform(.confirm, by: other)
  }

  mutating func pass(_ milliseconds: Int64) throws {
    world.now += milliseconds
    for host in world.hosts { host.handle(.woken, at: world.now) }
    try settle()
  }

  // MARK: What they see

  var stages: [Verification.Stage?] { [one.verification?.stage, other.verification?.stage] }

  var codes: [[UInt8]?] {
    stages.map { stage in if case .ready(let choices)? = stage { choices.code } else { nil } }
  }

  /// Events for devices of that kind that were sent so far.
  func sent(_ type: ByteString, by host: TestHost) -> Int {
    world.server.asked.count {
      $0.by == host.name && "\($0.request.endpoint.pattern)" == "\(Endpoint.sendToDevice.pattern)"
        && $0.request.parameters[0] == type
    }
  }
}

extension TestHost {
  /// The newest.
  var verification: Verification? { machine.verifications.views.last }

  var strings: Verification.ShortStrings? {
    if case .comparing(let strings)? = verification?.stage { strings } else { nil }
  }

  var cancellation: Verification.Cancellation? {
    if case .cancelled(let cancellation)? = verification?.stage { cancellation } else { nil }
  }

  func isVerified(_ user: UserID) -> Bool { machine.identities.isVerified(user) }
}

extension VerificationMessage {
  /// As `EncryptedAnswer` finds it in a sync.
  init?(plain json: JSON, in room: RoomID) {
    guard let event = Event(json), let id = event.eventID, let sender = event.sender else { return nil }
    self.init(event.type, event.content, event: id, in: room, from: sender, at: event.originServerTimestamp ?? 0)
  }
}
