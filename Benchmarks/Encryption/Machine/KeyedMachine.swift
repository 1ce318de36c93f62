import Encryption
import JSON
import MatrixModel
import Olm

/// A machine with keys of rooms, and its store.
struct KeyedMachine {
  private var machine = EncryptionMachine(
    user: UserID(trusted: "@ann:example.org"), device: DeviceID(trusted: "DESK"), random: .repeating(seed: Array("ann".utf8)))
  /// By the slice that they are exported in, as a store finds them by the beginnings of their names.
  private var store: [ByteString: [UInt8]] = [:]
  private var slices: [ByteString: [EncryptionRecord]] = [:]

  init(keys: [RoomKey]) {
    _ = machine.start(at: 0)
    keep(machine.handle(.loaded([]), at: 0))
    take(keys)
    for (key, value) in store where key.string.hasPrefix("e/in/") {
      slices[ByteString(decoding: key.utf8.prefix(7)), default: []].append(EncryptionRecord(key: key, value: value))
    }
  }

  static func newKeys(_ count: Int) -> [RoomKey] {
    var random = SecretSource.repeating(seed: Array("keys".utf8))
    return (0..<count).compactMap { number in
      let outbound = OutboundGroupSession(random: &random)
      guard let session = try? InboundGroupSession(sharedKey: outbound.sharedKey.exposed()) else { return nil }
      let sender = Curve25519KeyPair(from: &random).key
      return RoomKey(
        RoomID(trusted: ByteString("!room\(number / 20):example.org")), session, .claimed(identity: sender),
        sharesHistory: false)
    }
  }

  mutating func take(_ keys: [RoomKey]) {
    for start in stride(from: 0, to: keys.count, by: 100) {
      let some = Array(keys[start..<min(start + 100, keys.count)])
      var output = machine.handle(.importKeys(1, some), at: 0)
      keep(output)
      if !output.loads.isEmpty {
        output = machine.handle(.loaded([]), at: 0)
        keep(output)
      }
      guard output.results.contains(where: { if case .importedKeys(1, new: some.count) = $0 { true } else { false } }) else {
        fatalError("not taken")
      }
    }
  }

  mutating func exported() -> [RoomKey] {
    var keys: [RoomKey] = []
    for slice in EncryptionMachine.keySlices {
      var output = machine.handle(.exportKeys(1, of: nil, slice: slice), at: 0)
      if let prefix = output.loads.first { output = machine.handle(.loaded(slices[prefix] ?? []), at: 0) }
      for case .exportedKeys(_, let some) in output.results { keys += some }
    }
    return keys
  }

  private mutating func keep(_ output: MachineOutput) {
    for case .put(let record) in output.writes { store[record.key] = record.value }
  }
}
