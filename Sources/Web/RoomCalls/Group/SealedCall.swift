import CallCore
import JSON
import MatrixModel
import WebHost

/// What makes a room's call end-to-end encrypted. The own keys go to the devices in the call, which the page encrypts them for; those of others go
/// to the browser's media, which encrypts and decrypts each frame (`Web/call-frames.js`).
final class SealedCall {
  private let room: RoomID
  private let own: CallDeviceName
  private var keys: CallKeys
  /// To the browser's media.
  private let post: ([UInt8]) -> Void
  /// Asks the page to encrypt an event's content for these devices, and to send it. It says `told` with the number.
  private let tell: (_ number: UInt64, _ content: [UInt8], _ devices: [CallDeviceName]) -> Void
  /// Devices whose frames can be decrypted.
  private var heard: [CallDeviceName] = []
  private var timer: HostTask?
  private var isOver = false
  /// Called if the frames of another device can be decrypted now, or no longer.
  var onChange: () -> Void = {}

  init(
    _ room: RoomID, _ own: CallDeviceName, post: @escaping ([UInt8]) -> Void,
    tell: @escaping (UInt64, [UInt8], [CallDeviceName]) -> Void
  ) {
    self.room = room
    self.own = own
    self.post = post
    self.tell = tell
    keys = CallKeys(room: room, own: own) { Host.randomKey() }
    say("seal") { _ in }
    carryOut(keys.advance(now: now))
  }

  func end() {
    isOver = true
    timer?.cancel()
    onChange = {}
  }

  private var now: Int64 { Int64(Host.monotonicMilliseconds()) }

  // MARK: What happens

  func changed(_ room: KnownRoom) {
    let members = room.call.members(at: Host.wallClockMilliseconds())
    carryOut(keys.changed(members.filter { room.person($0.user.text)?.isJoined ?? false }, now: now))
  }

  /// - Parameter message: `user` and `device` that have encrypted the `content`.
  func received(_ message: JSON) {
    guard let device = CallDeviceName(message), let content = message["content"] else { return }
    carryOut(keys.received(content, from: device, now: now))
  }

  /// - Parameter answer: the `devices` that were sent what has this `number`.
  func told(_ answer: JSON) {
    guard let number = answer.integer("number") else { return }
    let devices = answer["devices"]?.elements.compactMap { CallDeviceName($0) } ?? []
    carryOut(keys.sent(UInt64(clamping: number), to: devices, now: now))
  }

  /// The frames of this stream are that device's.
  func arrived(_ name: String, of device: CallDeviceName) {
    say("from") { writer in
      writer.member("stream", name)
      writer.member("owner", device.text)
    }
  }

  /// Whether something of the device can be seen and heard.
  func hears(_ device: CallDeviceName) -> Bool { heard.contains(device) }

  // MARK: What follows

  private func carryOut(_ effects: [CallKeys.Effect]) {
    guard !isOver else { return }
    for effect in effects {
      switch effect {
      case .send(let key, let devices, let number):
        tell(number, key.content(for: room, from: own, at: Host.wallClockMilliseconds()), devices)
      case .use(let key): give(key, of: nil)
      case .take(let key, let device):
        give(key, of: device)
        if !heard.contains(device) { heard.append(device) }
        onChange()
      case .forget(let device):
        heard.removeAll { $0 == device }
        say("forget") { $0.member("owner", device.text) }
      }
    }
    timer?.cancel()
    timer = keys.nextTime.map { time in
      Host.at(milliseconds: time) { [self] in carryOut(keys.advance(now: now)) }
    }
  }

  /// - Parameter device: nil for the own one.
  private func give(_ key: CallKey, of device: CallDeviceName?) {
    say("key") { writer in
      if let device { writer.member("owner", device.text) }
      writer.member("index", Int64(key.index))
      writer.member("secret", key.secret)
    }
  }

  private func say(_ action: ByteString, _ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", action)
      members(&writer)
    }
    post(writer.bytes)
  }
}

extension CallDeviceName {
  /// From an object with `user` and `device`.
  init?(_ json: JSON) {
    guard let user = UserID(json["user"]), let device = json.text("device") else { return nil }
    self.init(user, device)
  }

  /// As the call server says whose a connection is: its token has both.
  init?(_ connection: CallConnection) {
    guard let data = try? JSON.parse(connection.data.utf8), let user = UserID(data["user_id"]),
      let device = data.text("device_id")
    else { return nil }
    self.init(user, device)
  }
}
