import ClientCore
import Encryption
import Foundation
import JSON
import MatrixClient
import MatrixModel
import Olm

/// The sealed store of a machine with many rooms, devices and sessions, from which another begins.
struct StoredMachine {
  private static let users = 2_500, devicesOfUser = 2, rooms = 500, membersOfRoom = 10
  private static let ann = UserID(trusted: "@ann:example.org"), desk = DeviceID(trusted: "DESK")
  private static let key = StoreKeySource.bytes([UInt8](repeating: 7, count: 32))

  private enum Failure: Error {
    case noStart
    case broken(String)
  }

  private let path: String

  /// One that another process has filled.
  init(path: String) { self.path = path }

  /// - Parameter sessions: of rooms.
  init(sessions: [RoomKey]) async throws {
    path = NSTemporaryDirectory() + "martlet-encryption-benchmark-\(getpid())"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    var writer = try Writer()
    try writer.fill(Self.users, Self.devicesOfUser, Self.rooms, Self.membersOfRoom)
    writer.take(sessions)
    let store = try SQLiteStore(path: path + "/store", key: Self.key)
    let records = Array(writer.store)
    for start in stride(from: 0, to: records.count, by: 1_000) {
      let part = records[start..<min(start + 1_000, records.count)]
      try await store.write(part.map { .put(key: $0.key, value: $0.value) })
    }
    await store.close()
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// Begins in a process of its own. Returns the milliseconds from the closed file to a machine that is ready, and the kilobytes
  /// that it took at its peak.
  func startElsewhere() throws -> (milliseconds: Double, kilobytes: Double) {
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
    process.arguments = ["start", path]
    process.standardOutput = pipe
    try process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: " ")
    guard words.count == 2, let time = Double(words[0]), let memory = Double(words[1].filter { $0 != "\n" }) else {
      throw Failure.noStart
    }
    return (time, memory)
  }

  func start() async throws -> Double {
    let clock = ContinuousClock(), began = clock.now
    let store = try SQLiteStore(path: path + "/store", key: Self.key)
    var machine = EncryptionMachine(user: Self.ann, device: Self.desk, random: .system)
    var records: [EncryptionRecord] = []
    for prefix in machine.start(at: 0).loads {
      records += try await store.load(StoreRange(prefix: prefix)).map { EncryptionRecord(key: $0.key, value: $0.value) }
    }
    let output = machine.handle(.loaded(records), at: 0)
    let time = clock.now - began
    for case .broken(let reason) in output.results { throw Failure.broken("\(reason)") }
    await store.close()
    return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
  }

  static var peakKilobytes: Int {
    let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.first { $0.hasPrefix("VmHWM") }.flatMap { Int($0.filter { $0.isNumber }) } ?? 0
  }

  /// The machine that fills the store, with a server that answers at once.
  private struct Writer {
    private var machine = EncryptionMachine(user: ann, device: desk, random: .repeating(seed: Array("ann".utf8)))
    private(set) var store: [ByteString: [UInt8]] = [:]
    private var devices: [UserID: [PublishedDevice]] = [:]
    private let empty: JSON

    init() throws { empty = try JSON.object { _ in } }

    mutating func fill(_ users: Int, _ devicesOfUser: Int, _ rooms: Int, _ members: Int) throws {
      var random = SecretSource.repeating(seed: Array("devices".utf8))
      for number in 0..<users {
        let user = UserID(trusted: ByteString("@user\(number):example.org"))
        devices[user] = (0..<devicesOfUser).map {
          PublishedDevice(DeviceID(trusted: ByteString("DEVICE\($0)")), of: user, random: &random)
        }
      }
      take(machine.start(at: 0))
      take(machine.handle(.track(devices.keys.sorted()), at: 0))
      let encryption = try JSON.object { $0.member("algorithm", Algorithm.megolm) }
      let content = try JSON.object { $0.member("body", "hello") }
      for number in 0..<rooms {
        let room = RoomID(trusted: ByteString("!written\(number):example.org"))
        let readers = (0..<members).map { UserID(trusted: ByteString("@user\((number * 7 + $0) % users):example.org")) }
        take(machine.handle(.encryption(room, encryption), at: 0))
        let members = RoomMembers(room, users: readers, sharesHistory: false)
        take(machine.handle(.encrypt(UInt64(number), members, .message, content), at: 0))
      }
    }

    mutating func take(_ keys: [RoomKey]) {
      for start in stride(from: 0, to: keys.count, by: 500) {
        take(machine.handle(.importKeys(1, Array(keys[start..<min(start + 500, keys.count)])), at: 0))
      }
    }

    private mutating func take(_ output: MachineOutput) {
      for change in output.writes {
        switch change {
        case .put(let record): store[record.key] = record.value
        case .delete(let key): store[key] = nil
        }
      }
      if !output.loads.isEmpty {
        // Sessions with devices are in memory only up to a number.
        let found = output.loads.flatMap { prefix in
          store[prefix].map { [EncryptionRecord(key: prefix, value: $0)] } ?? []
        }
        take(machine.handle(.loaded(found), at: 0))
      }
      for request in output.requests {
        switch "\(request.endpoint.pattern)" {
        case "\(Endpoint.queryKeys.pattern)": take(machine.handle(.answered(request.id, listed(request.body)), at: 0))
        case "\(Endpoint.claimKeys.pattern)": take(machine.handle(.answered(request.id, claimed(request.body)), at: 0))
        default: take(machine.handle(.answered(request.id, empty), at: 0))
        }
      }
    }

    private func listed(_ body: [UInt8]) -> JSON {
      let users = (try? JSON.parse(body))?["device_keys"]?.members.compactMap { UserID($0.key) } ?? []
      return answer("device_keys", users) { $1.write($0.keys) }
    }

    private func claimed(_ body: [UInt8]) -> JSON {
      let users = (try? JSON.parse(body))?["one_time_keys"]?.members.compactMap { UserID($0.key) } ?? []
      return answer("one_time_keys", users) { $1.write($0.claimed) }
    }

    private func answer(
      _ name: StaticString, _ users: [UserID],
      _ write: (PublishedDevice, inout JSONWriter) -> Void
    ) -> JSON {
      let json = try? JSON.object { writer in
        writer.key(name)
        writer.object { writer in
          for user in users {
            writer.key(user)
            writer.object { writer in
              for device in devices[user] ?? [] {
                writer.key(device.device)
                write(device, &writer)
              }
            }
          }
        }
      }
      return json ?? empty
    }
  }
}
