import JSON
import MatrixModel

@testable import Encryption

/// A homeserver in memory, with one room.
final class ModelServer {
  struct Name: Hashable, Comparable {
    let user: UserID
    let device: DeviceID

    static func < (one: Name, other: Name) -> Bool { (one.user, one.device) < (other.user, other.device) }
  }

  /// What a sync brings, in order. A client's token is how many it has.
  enum Entry {
    case toDevice(JSON)
    case changed(UserID)
  }

  struct Device {
    var keys: JSON?
    var oneTimeKeys: [(name: ByteString, key: JSON)] = []
    var fallback: (name: ByteString, key: JSON)?
    var isFallbackUsed = false
    var log: [Entry] = []
    var transactions: Set<ByteString> = []
  }

  static let room = RoomID(trusted: "!tea:one.example")

  var devices: [Name: Device] = [:]
  /// Dehydrated devices, and what is said of them.
  var dehydrated: [UserID: (device: DeviceID, data: JSON)] = [:]
  /// Whether it knows such devices.
  var dehydrates = true
  let accounts = ModelAccounts()
  /// What was asked for, in order.
  private(set) var asked: [(by: Name, request: MachineRequest)] = []
  /// Of the room.
  private(set) var events: [JSON] = []
  private var transactions: [ByteString: EventID] = [:]
  private var writers: [EventID: (name: String, number: UInt64)] = [:]
  var members: [UserID] = []
  /// Servers of users that do not answer.
  var failing: Set<ServerName> = []
  /// When the room's first event is sent, in milliseconds since 1970.
  var time: Int64 = 1_000_000_000
  /// A hostile server's word.
  var queryAnswer: ((JSON) throws -> JSON)?
  /// What it makes of an event for a device; nil to keep it back.
  var altered: ((ByteString, JSON) throws -> JSON?)?
  /// A device whose first one-time key everybody is given.
  var repeatsKeysOf: Name?
  /// Whether it delivers events for devices twice.
  var repeats = false

  func add(_ name: Name) { devices[name] = Device() }

  func remove(_ name: Name) {
    devices[name] = nil
    announce(name.user)
  }

  // MARK: Syncs

  func sync(_ name: Name, since token: Int, limit: Int) -> (SyncedKeys, token: Int) {
    var synced = SyncedKeys()
    guard let device = devices[name] else { return (synced, token) }
    let entries = device.log.dropFirst(token).prefix(limit)
    for entry in entries {
      switch entry {
      case .toDevice(let event): synced.toDevice.append(event)
      case .changed(let user): synced.changed.append(user)
      }
    }
    synced.hasGap = token == 0
    synced.keyCounts = try? JSON.object { $0.member("signed_curve25519", device.oneTimeKeys.count) }
    let unused = device.fallback != nil && !device.isFallbackUsed ? #"["signed_curve25519"]"# : "[]"
    synced.unusedFallbacks = try? JSON.parse(Array(unused.utf8))
    return (synced, token + entries.count)
  }

  func announce(_ user: UserID) {
    for name in devices.keys { devices[name]?.log.append(.changed(user)) }
  }

  // MARK: Requests

  func answer(_ request: MachineRequest, of name: Name) throws -> JSON {
    asked.append((name, request))
    let body = try JSON.parse(request.body.isEmpty ? Array("{}".utf8) : request.body)
    if let answer = try accounts.answer(request, body, of: name.user) { return answer }
    if let answer = try answerOfDehydrated(request, body, of: name.user) { return answer }
    switch "\(request.endpoint.pattern)" {
    case "\(Endpoint.uploadKeys.pattern)": return try upload(body, name)
    case "\(Endpoint.queryKeys.pattern)": return try queryAnswer?(query(body, by: name.user)) ?? query(body, by: name.user)
    case "\(Endpoint.claimKeys.pattern)": return try claim(body)
    case "\(Endpoint.sendToDevice.pattern)":
      send(body, type: request.parameters[0], transaction: request.parameters[1], from: name)
      return try JSON.object { _ in }
    case "\(Endpoint.uploadCrossSigningKeys.pattern)":
      try accounts.setIdentity(of: name.user, body)
      announce(name.user)
      return try JSON.object { _ in }
    case "\(Endpoint.uploadCrossSigningSignatures.pattern)":
      for user in body.members.map({ $0 }) {
        for object in user.value.members.map({ $0 }) { try sign(UserID(trusted: user.key), object.key, object.value) }
        announce(UserID(trusted: user.key))
      }
      return try JSON.object { _ in }
    case "\(Endpoint.sendMessage.pattern)":
      let id = try post(EventType(trusted: request.parameters[1]), request.body, by: name.user, request.parameters[2])
      return try JSON.object { $0.member("event_id", id) }
    default: throw UnknownRequest()
    }
  }

  struct UnknownRequest: Error {}

  private func upload(_ body: JSON, _ name: Name) throws -> JSON {
    if let keys = body["device_keys"] {
      devices[name]?.keys = keys
      announce(name.user)
    }
    for member in body["one_time_keys"]?.members.map({ $0 }) ?? []
    where !(devices[name]?.oneTimeKeys.contains { $0.name == member.key } ?? true) {
      devices[name]?.oneTimeKeys.append((member.key, member.value))
    }
    if let fallback = body["fallback_keys"]?.members.map({ $0 }).first {
      devices[name]?.fallback = (fallback.key, fallback.value)
      devices[name]?.isFallbackUsed = false
    }
    let count = devices[name]?.oneTimeKeys.count ?? 0
    return try JSON.parse(Array(#"{"one_time_key_counts":{"signed_curve25519":\#(count)}}"#.utf8))
  }

  private func sign(_ user: UserID, _ key: ByteString, _ object: JSON) throws {
    let name = DeviceID(key).map { Name(user: user, device: $0) }
    if let name, let known = devices[name]?.keys {
      devices[name]?.keys = try known.merged(object)
    } else {
      try accounts.sign(user, object)
    }
  }

  private func query(_ body: JSON, by asking: UserID) throws -> JSON {
    let users = Set(body["device_keys"]?.members.compactMap { UserID($0.key) } ?? [])
    let present = devices.filter { users.contains($0.key.user) && !failing.contains($0.key.user.serverName) }
    let listed = present.keys.sorted().compactMap { name in
      devices[name]?.keys.map { (user: name.user, device: name.device, keys: $0) }
    }
    let known = users.filter { !failing.contains($0.serverName) }
    return try accounts.identities(
      of: known.sorted(), by: asking, beside: EncryptionTests.answer(listed, failures: failing.map { $0.string }))
  }

  private func claim(_ body: JSON) throws -> JSON {
    var given: [(Name, ByteString, JSON)] = []
    for user in body["one_time_keys"]?.members.map({ $0 }) ?? [] {
      for device in user.value.members.map({ $0 }) {
        guard let id = UserID(user.key), let deviceID = DeviceID(device.key), !failing.contains(id.serverName) else { continue }
        let name = Name(user: id, device: deviceID)
        if repeatsKeysOf == name, let key = devices[name]?.oneTimeKeys.first {
          given.append((name, key.name, key.key))
        } else if devices[name]?.oneTimeKeys.isEmpty == false, let key = devices[name]?.oneTimeKeys.removeFirst() {
          given.append((name, key.name, key.key))
        } else if let fallback = devices[name]?.fallback {
          devices[name]?.isFallbackUsed = true
          given.append((name, fallback.name, fallback.key))
        }
      }
    }
    return try JSON.object { writer in
      writer.key("one_time_keys")
      writer.object { writer in
        for user in Set(given.map(\.0.user)).sorted() {
          writer.key(user)
          writer.object { writer in
            for (name, keyName, key) in given where name.user == user {
              writer.key(name.device)
              writer.object { writer in
                writer.key(keyName)
                writer.write(key)
              }
            }
          }
        }
      }
    }
  }

  private func send(_ body: JSON, type: ByteString, transaction: ByteString, from sender: Name) {
    guard devices[sender]?.transactions.insert(transaction).inserted ?? false else { return }
    for user in body["messages"]?.members.map({ $0 }) ?? [] {
      for device in user.value.members.map({ $0 }) {
        guard let id = UserID(user.key), let deviceID = DeviceID(device.key) else { continue }
        guard let content = try? altered.map({ try $0(type, device.value) }) ?? device.value else { continue }
        let event = try? JSON.object { writer in
          writer.member("sender", sender.user)
          writer.member("type", type)
          writer.member("content", content)
        }
        guard let event else { continue }
        for _ in 0..<(repeats ? 2 : 1) { devices[Name(user: id, device: deviceID)]?.log.append(.toDevice(event)) }
      }
    }
  }

  // MARK: The room

  /// - Returns: the event's ID, the one of the first time if it was sent before.
  @discardableResult
  func send(_ content: [UInt8], by name: Name, _ number: UInt64) throws -> EventID {
    let id = try post(.encrypted, content, by: name.user, ByteString("\(name) \(number)"))
    writers[id] = ("\(name)", number)
    return id
  }

  func post(_ type: EventType, _ content: [UInt8], by user: UserID, _ transaction: ByteString) throws -> EventID {
    if let known = transactions[transaction] { return known }
    let id = EventID(trusted: ByteString("$\(events.count)"))
    transactions[transaction] = id
    events.append(
      try JSON.object { writer in
        writer.member("type", type)
        writer.member("event_id", id)
        writer.member("sender", user)
        writer.member("origin_server_ts", time + Int64(events.count))
        writer.member("content", raw: content)
      })
    return id
  }

  /// A device's name, and the message's number there.
  func writer(of event: EventID) -> (name: String, number: UInt64)? { writers[event] }
}

// MARK: What a hostile or unlucky server does

extension ModelServer {
  /// All that came for a device so far.
  func toDevice(of name: Name) -> [JSON] {
    devices[name]?.log.compactMap { if case .toDevice(let event) = $0 { event } else { nil } } ?? []
  }

  func dropFallback(of name: Name) { devices[name]?.fallback = nil }

  func replaceKeys(of name: Name, by keys: JSON) {
    devices[name]?.keys = keys
    announce(name.user)
  }
}
