import JSON
import MatrixModel
import Olm

/// Keys of rooms that this device asks the user's other verified devices for, after the backup had nothing.
///
/// In memory only: after a restart an event that is shown again asks again, and what answers the earlier request answers the new one. Spec:
/// Client-Server API, "m.room_key_request".
struct KeyRequests: Sendable {
  /// An event waits so long first: most keys are only late.
  static let delayMilliseconds: Int64 = 10_000
  /// A device may be switched off for a while.
  static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  /// Sessions that are asked for, or are to be.
  static let limit = 50

  struct Request: Sendable {
    let id: ByteString
    let devices: [DeviceKeys]
    let askedAt: Int64
  }

  private var due: [RoomKeys.Name: Int64] = [:]
  private(set) var open: [RoomKeys.Name: Request] = [:]

  /// An event lacks the key. A session is asked for once at a time.
  ///
  /// - Parameter now: milliseconds since 1970.
  mutating func want(_ name: RoomKeys.Name, at now: Int64) {
    open = open.filter { now - $1.askedAt < Self.lifetimeMilliseconds }
    guard open[name] == nil, due[name] == nil, open.count + due.count < Self.limit else { return }
    due[name] = now + Self.delayMilliseconds
  }

  /// The user does not want to wait: what would be asked for later is due now, and what nobody has answered is due again.
  mutating func hurry(in room: RoomID, at now: Int64) {
    for name in Array(due.keys) + Array(open.keys) where name.room == room { due[name] = now }
  }

  var nextTime: Int64? { due.values.min() }

  /// Sessions that it is time to ask for. Each is asked for with `ask`, or not at all.
  mutating func takeDue(at now: Int64) -> [RoomKeys.Name] {
    let names = due.filter { $1 <= now }.keys.ordered { ($0.room, $0.session) < ($1.room, $1.session) }
    for name in names { due[name] = nil }
    return names
  }

  /// - Parameter devices: verified ones of the user (`Trust.isVerifiedOwn`).
  mutating func ask(for name: RoomKeys.Name, _ devices: [DeviceKeys], random: inout SecretSource, at now: Int64) -> Request {
    let request = Request(id: RecordNames.hexadecimal(random.bytes(16)[...]), devices: devices, askedAt: now)
    open[name] = request
    return request
  }

  /// Whether the device was asked for the session's key.
  func wasAsked(_ device: DeviceKeys, for name: RoomKeys.Name) -> Bool {
    open[name]?.devices.contains { $0.hasSameKeys(as: device) } ?? false
  }

  /// The key is here. Returns the request that the devices need not answer any more.
  mutating func close(_ name: RoomKeys.Name) -> Request? {
    due[name] = nil
    return open.removeValue(forKey: name)
  }
}

extension KeyRequests.Request {
  /// - Parameter isCancelled: whether it takes back what was asked.
  func content(for name: RoomKeys.Name, from own: DeviceID, isCancelled: Bool) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("action", isCancelled ? "request_cancellation" : "request")
      writer.member("request_id", id)
      writer.member("requesting_device_id", own)
      guard !isCancelled else { return }
      writer.key("body")
      writer.object { writer in
        writer.member("algorithm", Algorithm.megolm)
        writer.member("room_id", name.room)
        writer.member("session_id", name.session)
      }
    }
  }
}
