#if DEBUG || FUZZING
  import JSON
  import MatrixModel
  import Olm

  @testable import Encryption

  /// Ann's device, which follows Bob's, and Bob's, which writes to it with its own keys. The seed makes the same each time.
  private struct MessageWorld: Sendable {
    static let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example")
    private static let roundsLimit = 32

    private(set) var machine: EncryptionMachine
    let bob: OwnKeys
    private var sessions = DeviceSessions()
    private var store: [ByteString: EncryptionRecord] = [:]
    private var random = SecretSource.repeating(seed: Array("a world of messages".utf8))

    init?() {
      bob = OwnKeys(user: Self.bob, device: DeviceID(trusted: "DESK"), account: Account(random: &random))
      machine = EncryptionMachine(user: Self.ann, device: DeviceID(trusted: "PHONE"), random: random)
      _ = settle(machine.start(at: 0))
      _ = handle(.track([Self.bob]))
      guard let key = machine.own.account.fallbackKey?.pair.key,
        (try? sessions.begin(with: machine.own.deviceKeys, oneTime: key, from: bob, random: &random)) != nil
      else { return nil }
    }

    static let shared = MessageWorld()

    mutating func handle(_ input: MachineInput) -> MachineOutput { settle(machine.handle(input, at: 1)) }

    /// What came of an output and of those after it. The server knows Bob's device alone, and says so to whatever it is asked.
    private mutating func settle(_ output: MachineOutput) -> MachineOutput {
      var (all, inputs) = (output, take(output))
      for _ in 0..<Self.roundsLimit {
        guard !inputs.isEmpty else { break }
        let next = machine.handle(inputs.removeFirst(), at: 1)
        all.results += next.results
        all.writes += next.writes
        inputs += take(next)
      }
      return all
    }

    private mutating func take(_ output: MachineOutput) -> [MachineInput] {
      for write in output.writes {
        switch write {
        case .put(let record): store[record.key] = record
        case .delete(let key): store[key] = nil
        }
      }
      if !output.loads.isEmpty {
        return [.loaded(store.values.filter { record in output.loads.contains { record.key.utf8.starts(with: $0.utf8) } })]
      }
      return output.requests.map { request in answer.map { .answered(request.id, $0) } ?? .failed(request.id, .refused) }
    }

    private var answer: JSON? {
      try? JSON.object { writer in
        writer.key("one_time_key_counts")
        writer.object { $0.member("signed_curve25519", Int64(50)) }
        writer.key("device_keys")
        writer.object { writer in
          writer.key(Self.bob.text)
          writer.object { if let keys = bob.signedDeviceKeys { $0.member("DESK", keys) } }
        }
      }
    }

    /// As a server passes it on: encrypted by Bob's device where it says nothing else.
    mutating func event(_ event: JSON) -> JSON? {
      guard event["sender"] == nil else { return event }
      guard let type = event.text("type"), let content = event["content"],
        let encrypted = try? sessions.encrypt(type, content, for: machine.own.deviceKeys, from: bob, random: &random)
      else { return nil }
      return try? JSON.object { writer in
        writer.member("type", ByteString("m.room.encrypted"))
        writer.member("sender", Self.bob)
        writer.key("content")
        writer.raw(encrypted)
      }
    }
  }

  /// A list of events for a device, in clear text as a server may make them up, or encrypted by somebody's device: whoever sends them is not
  /// trusted the more, and gives room keys of their own alone.
  func fuzzDeviceMessages(_ bytes: UnsafeRawBufferPointer) {
    guard var world = MessageWorld.shared else { fatalError("the world of messages cannot be made") }
    guard let json = try? JSON.parse(Array(bytes)), json.isArray else { return }
    var synced = SyncedKeys()
    synced.toDevice = json.elements.prefix(16).compactMap { world.event($0) }
    let output = world.handle(.sync(synced))
    var syncs = 0
    for result in output.results {
      switch result {
      case .synced: syncs += 1
      case .broken: preconditionFailure("messages of others end no device")
      case .received(let message): precondition(message.sender == DeviceAddress(MessageWorld.bob, world.bob.device))
      default: break
      }
    }
    precondition(syncs == 1 && !world.machine.identities.isVerified(MessageWorld.bob))
    for case .put(let record) in output.writes { fuzzRecord(record.value) }
    for slice in EncryptionMachine.keySlices {
      for case .exportedKeys(_, let keys) in world.handle(.exportKeys(1, of: nil, slice: slice)).results {
        for key in keys { precondition(ExportedRoomKey(key).sender == world.bob.deviceKeys.identity) }
      }
    }
  }

  /// The keys of a room's history that somebody gives: those of another room are left out, and all are by their word alone.
  func fuzzKeyBundle(_ bytes: UnsafeRawBufferPointer) {
    let room = RoomID(trusted: "!tea:one.example")
    guard let bundle = try? RoomKeyBundle(Array(bytes), of: room, from: MessageWorld.bob) else { return }
    precondition(bundle.keys.count <= RoomKeyBundle.sessionLimit)
    precondition(bundle.keys.allSatisfy { $0.room == room && $0.giver == MessageWorld.bob })
    guard let text = RoomKeyBundle.text(of: bundle.keys) else { return }
    let again = try? RoomKeyBundle(text, of: room, from: MessageWorld.bob)
    precondition(again?.keys.map { $0.name } == bundle.keys.filter { $0.sharesHistory }.map { $0.name })
  }
#endif
