import JSON
import MatrixModel
import Synchronization
import Testing

@testable import CallCore

/// The keys of a room's encrypted call.
struct CallKeysTests {
  private static let room = RoomID("!r:test")!
  private let ann = CallDeviceName(UserID("@ann:test")!, "DESK")
  private let bob = CallDeviceName(UserID("@bob:test")!, "PHONE")
  private let carol = CallDeviceName(UserID("@carol:test")!, "TABLET")

  /// Counts secrets.
  private final class Count: Sendable {
    private let count = Atomic(0)
    var next: Int { count.add(1, ordering: .relaxed).oldValue }
  }

  private func keys() -> CallKeys {
    let count = Count()
    return CallKeys(room: Self.room, own: ann) { Self.secret(count.next) }
  }

  private static func secret(_ number: Int) -> ByteString {
    ByteString("\(number)" + String(repeating: "A", count: 43 - "\(number)".count))
  }

  private func here(_ devices: CallDeviceName..., at created: Int64 = 0) throws -> [CallMembership] {
    try devices.map { device in
      let content = CallMembership.joining(
        DeviceID(device.device)!, over: [], wantsVideo: true, createdAt: created, lifetimeMilliseconds: 1_000_000)
      let json = String(decoding: content, as: UTF8.self)
      let event =
        #"{"type":"org.matrix.msc3401.call.member","sender":"\#(device.user)","state_key":"_\#(device.text)","content":\#(json)}"#
      return try #require(Event(try JSON.parse(Array(event.utf8))).flatMap { CallMembership($0) })
    }
  }

  /// What is sent, in words.
  private func sends(_ effects: [CallKeys.Effect]) -> [String] {
    effects.compactMap { effect in
      guard case .send(let key, let devices, _) = effect else { return nil }
      return "\(key.index) to " + devices.map { "\($0.user.localpart)" }.joined(separator: " ")
    }
  }

  private func uses(_ effects: [CallKeys.Effect]) -> [UInt8] {
    effects.compactMap { if case .use(let key) = $0 { key.index } else { nil } }
  }

  private func takes(_ effects: [CallKeys.Effect]) -> [String] {
    effects.compactMap { if case .take(let key, let device) = $0 { "\(key.index) of \(device.user.localpart)" } else { nil } }
  }

  /// All devices got what the effects send.
  private func reach(_ keys: inout CallKeys, _ effects: [CallKeys.Effect], now: Int64) -> [CallKeys.Effect] {
    var next: [CallKeys.Effect] = []
    for case .send(_, let devices, let number) in effects { next += keys.sent(number, to: devices, now: now) }
    return next
  }

  private func content(_ index: Int, of device: CallDeviceName, secret: String? = nil, room: String = "!r:test") throws -> JSON
  {
    let key = secret ?? Self.secret(index).string
    return try JSON.parse(
      Array(
        #"{"keys":{"index":\#(index),"key":"\#(key)"},"member":{"id":"\#(device.text)","claimed_device_id":"\#(device.device)"},"#
          .utf8)
        + Array(#""room_id":"\#(room)","session":{"application":"m.call","call_id":"","scope":"m.room"},"sent_ts":1}"#.utf8))
  }

  @Test func `the first key is used at once, and each device that comes gets it`() throws {
    var keys = keys()
    #expect(uses(keys.advance(now: 0)) == [0] && keys.nextTime == nil)
    let first = keys.changed(try here(ann, bob), now: 10)
    #expect(sends(first) == ["0 to bob"], "not to this one")
    #expect(sends(keys.changed(try here(ann, bob), now: 11)).isEmpty, "it is on its way")
    #expect(sends(reach(&keys, first, now: 12)).isEmpty)
    #expect(sends(keys.changed(try here(ann, bob, carol), now: 13)) == ["0 to carol"])
  }

  @Test func `departures make one new key, which is used within five seconds and goes to those who are still there`() throws {
    var keys = keys()
    let dora = CallDeviceName(UserID("@dora:test")!, "D")
    let first = keys.advance(now: 0) + keys.changed(try here(bob, carol, dora), now: 0)
    _ = reach(&keys, first, now: 0)
    _ = keys.changed(try here(bob, dora), now: 1_000)
    #expect(sends(keys.changed(try here(bob), now: 2_000)).isEmpty)
    let made = keys.advance(now: try #require(keys.nextTime))
    #expect(sends(made) == ["1 to bob"] && uses(made).isEmpty, "the others need time to get it")
    let forgotten = made.compactMap { if case .forget(let device) = $0 { "\(device.user.localpart)" } else { nil } }
    #expect(forgotten == ["carol", "dora"])
    // Who comes in between gets both.
    let between = keys.changed(try here(bob, carol, at: 0), now: 4_500)
    #expect(sends(between) == ["0 to carol", "1 to carol"])
    let time = try #require(keys.nextTime)
    #expect(uses(keys.advance(now: time)) == [1] && time <= 1_000 + 5_000 && keys.nextTime == nil)
  }

  @Test func `no index is of two secrets, and after 255 comes 0`() throws {
    var (keys, secrets, now) = (keys(), [ByteString](), Int64(0))
    func note(_ effects: [CallKeys.Effect]) { for case .use(let key) in effects { secrets.append(key.secret) } }
    note(keys.advance(now: now))
    var last: UInt8 = 0
    for _ in 0..<300 {
      note(keys.changed(try here(bob), now: now))
      note(keys.changed([], now: now))
      while let time = keys.nextTime {
        now = time
        let effects = keys.advance(now: now)
        for index in uses(effects) {
          #expect(index == last &+ 1)
          last = index
        }
        note(effects)
      }
    }
    #expect(secrets.count == 301 && Set(secrets).count == 301)
  }

  @Test func `a device that comes anew gets the key again, and one that could not be reached is tried again`() throws {
    var keys = keys()
    let first = keys.advance(now: 0) + keys.changed(try here(bob), now: 0)
    _ = reach(&keys, first, now: 0)
    let again = keys.changed(try here(bob, at: 5), now: 10)
    #expect(sends(again) == ["0 to bob"])
    for case .send(_, _, let number) in again { #expect(sends(keys.sent(number, to: [], now: 20)).isEmpty) }
    #expect(keys.nextTime == 20 + CallLimits.keyRetryMilliseconds)
    #expect(sends(keys.advance(now: 20 + CallLimits.keyRetryMilliseconds)) == ["0 to bob"])
  }

  @Test func `a key is taken from the device that it says, once that is in the call`() throws {
    var keys = keys()
    _ = keys.advance(now: 0)
    #expect(takes(keys.received(try content(0, of: bob), from: bob, now: 0)).isEmpty)
    #expect(takes(keys.received(try content(1, of: bob), from: carol, now: 0)).isEmpty, "it says that it is Bob's")
    #expect(takes(keys.changed(try here(bob, carol), now: 1)) == ["0 of bob"])
    #expect(takes(keys.received(try content(7, of: carol), from: carol, now: 2)) == ["7 of carol"])
    #expect(takes(keys.received(try content(0, of: ann), from: ann, now: 2)).isEmpty, "its own")
    for (content, _) in [
      (try content(256, of: bob), "index"), (try content(0, of: bob, secret: "short"), "secret"),
      (try content(0, of: bob, room: "!other:test"), "room"), (try JSON.parse(Array("{}".utf8)), "nothing")
    ] {
      #expect(takes(keys.received(content, from: bob, now: 3)).isEmpty)
    }
  }

  @Test func `what is written is read as it was meant`() throws {
    let key = CallKey(index: 9, secret: Self.secret(9))
    let written = try JSON.parse(key.content(for: Self.room, from: bob, at: 1))
    #expect(CallKey(written, of: Self.room, from: bob) == key && written["member"]?.text("id") == "@bob:test:PHONE")
    #expect(!"\(key)".contains("AAAA"))
  }

  @Test func `keys of devices that never come are limited`() throws {
    var keys = keys()
    for number in 0..<(CallLimits.earlyKeys + 50) {
      let stranger = CallDeviceName(UserID("@u\(number):test")!, "D")
      for index in 0..<5 { _ = keys.received(try content(index, of: stranger), from: stranger, now: 0) }
    }
    let first = CallDeviceName(UserID("@u0:test")!, "D")
    let last = CallDeviceName(UserID("@u\(CallLimits.earlyKeys + 49):test")!, "D")
    #expect(takes(keys.changed(try here(first, last), now: 1)) == ["3 of u0", "4 of u0"])
  }
}
