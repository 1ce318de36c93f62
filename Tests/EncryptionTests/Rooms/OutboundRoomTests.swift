import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

private let tea = RoomID(trusted: "!tea:one.example")
private let hour: Int64 = 60 * 60 * 1_000

@Suite struct RoomEncryptionTests {
  private func content(_ text: String) throws -> JSON { try parsed(text) }

  @Test func `rotation is the room's within bounds, and the spec's where the room says nothing`() throws {
    let plain = RoomEncryption(try content(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#))
    #expect(plain.isSupported && plain.rotationMessages == 100 && plain.rotationMilliseconds == 7 * 24 * hour)
    let often = RoomEncryption(
      try content(#"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":-3,"rotation_period_ms":1}"#))
    #expect(often.rotationMessages == 1 && often.rotationMilliseconds == hour)
    let seldom = RoomEncryption(
      try content(
        #"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":9007199254740991,"rotation_period_ms":9007199254740991}"#))
    #expect(seldom.rotationMessages == 10_000 && seldom.rotationMilliseconds == 30 * 24 * hour)
  }

  @Test func `later state makes it stricter, never weaker, and does not end it`() throws {
    var room = RoomEncryption(try content(#"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":50}"#))
    let first = room
    for weaker in [
      "{}", #"{"algorithm":"none"}"#, #"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":500}"#,
      #"{"rotation_period_msgs":1}"#
    ] {
      room.heed(try content(weaker))
      #expect(room == first, "\(weaker)")
    }
    room.heed(try content(#"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":20,"rotation_period_ms":3600000}"#))
    #expect(room.rotationMessages == 20 && room.rotationMilliseconds == hour)
    var unknown = RoomEncryption(try content(#"{"algorithm":"m.mls"}"#))
    #expect(!unknown.isSupported)
    unknown.heed(try content(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#))
    #expect(unknown.isSupported)
  }
}

@Suite struct OutboundRoomTests {
  private let phone = TestDevice(of: bob, seed: "bob's phone")
  private let desk = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "ann's desk").own.deviceKeys
  private let tablet = TestDevice(of: ann, DeviceID(trusted: "TABLET"), seed: "ann's tablet").own.deviceKeys
  private let encryption = RoomEncryption(rotationMessages: 3, rotationMilliseconds: hour, isSupported: true)

  private func room(at now: Int64 = 0) -> OutboundRoom {
    var random = phone.random
    return OutboundRoom(tea, sharesHistory: false, random: &random, at: now)
  }

  private func isDue(_ room: OutboundRoom, _ readers: [DeviceKeys], sharesHistory: Bool = false, at now: Int64 = 0) -> Bool {
    room.isDue(encryption, Recipients(readers), sharesHistory: sharesHistory, at: now)
  }

  @Test
  func
    `a new session is due after messages, time, a departure, a changed history, and where somebody has the key who is to get none`()
    throws
  {
    var room = room()
    #expect(!isDue(room, [desk]) && isDue(room, [desk], at: hour) && !isDue(room, [desk], at: hour - 1))
    #expect(isDue(room, [desk], at: -1), "the clock was set back")
    #expect(isDue(room, [desk], sharesHistory: true))
    _ = try room.share(with: desk)
    #expect(!isDue(room, [desk, tablet]) && isDue(room, [tablet]) && isDue(room, []))
    for left in (0..<3).reversed() {
      _ = try room.encrypt(.message, try parsed("{}"), from: phone.own)
      #expect(isDue(room, [desk]) == (left == 0))
    }
    var departed = self.room()
    departed.end()
    #expect(isDue(departed, [desk]))
  }

  @Test func `each device gets the key once, from the next message on`() throws {
    var room = room()
    #expect(room.missing(Recipients([desk, tablet])).map(\.device) == [desk.device, tablet.device])
    _ = try room.share(with: desk)
    let early = try room.encrypt(.message, try parsed("{}"), from: phone.own)
    #expect(room.missing(Recipients([desk, tablet])).map(\.device) == [tablet.device])
    let content = try room.share(with: tablet)
    #expect(content.text("room_id") == tea.text && content.text("session_id") == room.id)
    #expect(content.bool("shared_history") == false)
    var late = try InboundGroupSession(sharedKey: try decoded(content, "session_key"))
    #expect(late.firstIndex == 1)
    let message = try decoded(try JSON.parse(early), "ciphertext")
    #expect(throws: OlmError.unreachableIndex) { try late.decrypt(message) }
    #expect(room.missing(Recipients([desk, tablet])).isEmpty)
  }

  @Test func `a device that the key cannot be sent to does not have it, and those behind it do`() throws {
    var room = room()
    var keys: [JSON] = []
    let left = try room.share(with: [desk, tablet]) { key, device in
      keys.append(key)
      return device == tablet
    }
    #expect(left == [desk] && room.missing(Recipients([desk, tablet])) == [desk])
    #expect(keys.map(\.bytes).first.map(Array.init) == keys.map(\.bytes).last.map(Array.init) && keys.count == 2)
  }

  @Test func `who gets no key is told once why, and again when the reason changes`() throws {
    var room = room()
    let content = try room.withhold(Recipients.Withheld(desk, .unverified), from: phone.own)
    #expect(content?.text("code") == "m.unverified" && content?.text("session_id") == room.id)
    let again = try room.withhold(Recipients.Withheld(desk, .unverified), from: phone.own)
    #expect(again == nil)
    let other = try room.withhold(Recipients.Withheld(desk, .noOlm), from: phone.own)
    #expect(other?.text("code") == "m.no_olm" && other?["session_id"] == nil && other?["room_id"] == nil)
    // It got the key meanwhile, and then again not.
    _ = try room.share(with: desk)
    let later = try room.withhold(Recipients.Withheld(desk, .noOlm), from: phone.own)
    #expect(later != nil)
  }

  @Test func `an encrypted event says nothing but its relation in the clear`() throws {
    var room = room()
    let content = try parsed(#"{"body":"secret","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#)
    let bytes = try room.encrypt(.message, content, from: phone.own)
    let json = try JSON.parse(bytes)
    #expect(
      json.members.map { $0.key.string }.sorted() == [
        "algorithm", "ciphertext", "device_id", "m.relates_to", "sender_key", "session_id"
      ])
    #expect(json["m.relates_to"]?.text("event_id") == "$1")
  }

  private func decoded(_ content: JSON, _ name: StaticString) throws -> [UInt8] {
    let text = try #require(content.text(name))
    return try #require(Base64.decode(Array(text.utf8)))
  }
}

extension OutboundRoom {
  /// Gives one device the key, and returns it.
  mutating func share(with device: DeviceKeys) throws -> JSON {
    var given: JSON?
    _ = try share(with: [device]) { key, _ in
      given = key
      return true
    }
    return try #require(given)
  }
}
