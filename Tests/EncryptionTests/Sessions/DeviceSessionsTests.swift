import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// A device with its sessions and what it knows of others.
private struct Side {
  var device: TestDevice
  var sessions = DeviceSessions()
  var tracker = DeviceTracker()

  var keys: DeviceKeys { device.own.deviceKeys }

  init(of user: UserID, _ device: String, seed: String) throws {
    self.device = TestDevice(of: user, DeviceID(trusted: ByteString(device)), seed: seed)
    _ = try self.device.nextUpload()
    self.device.own.uploaded(try parsed("{}"))
    self.device.own.told(counts: try parsed("{}"), unusedFallbacks: nil)
    _ = try self.device.nextUpload()
    self.device.own.uploaded(try parsed(#"{"one_time_key_counts":{"signed_curve25519":50}}"#))
  }

  mutating func learn(_ other: Side) throws {
    tracker.track([other.keys.user])
    tracker.changed([other.keys.user])
    let query = try #require(tracker.nextQuery(at: 0) as DeviceTracker.DeviceQuery?)
    var fresh = OwnKeys(user: other.keys.user, device: other.keys.device, account: other.device.own.account)
    var random = SecretSource.system
    let upload = try #require(fresh.nextUpload(random: &random, at: 0) as [UInt8]?)
    let keys = try #require(try JSON.parse(upload)["device_keys"])
    _ = tracker.answered(query, try answer([(other.keys.user, other.keys.device, keys)]), at: 0)
  }

  mutating func begin(with other: Side, key: Int = 0) throws {
    try sessions.begin(
      with: other.keys, oneTime: other.device.own.account.oneTimeKeys[key].pair.key, from: device.own, random: &device.random)
  }

  mutating func write(_ text: String, to other: Side) throws -> JSON {
    let content = try JSON.object { $0.member("text", text) }
    let bytes = try sessions.encrypt("m.test", content, for: other.keys, from: device.own, random: &device.random)
    return try JSON.parse(try #require(bytes))
  }

  mutating func read(_ content: JSON, from sender: UserID) throws -> OlmPayload {
    try sessions.decrypt(content, from: sender, to: &device.own, knowing: tracker)
  }

  mutating func refusal(_ content: JSON, from sender: UserID) -> OlmRefusal? {
    do throws(OlmRefusal) {
      _ = try sessions.decrypt(content, from: sender, to: &device.own, knowing: tracker)
      return nil
    } catch { return error }
  }
}

@Suite struct DeviceSessionsTests {
  private func pair() throws -> (Side, Side) {
    var (one, other) = (try Side(of: ann, "DESK", seed: "ann's desk"), try Side(of: bob, "PHONE", seed: "bob's phone"))
    try one.learn(other)
    try other.learn(one)
    try one.begin(with: other)
    return (one, other)
  }

  @Test func `two devices talk, each message is read once, and a one-time key is used up with its first message`() throws {
    var (one, other) = try pair()
    let first = try one.write("hello", to: other)
    let read = try other.read(first, from: ann)
    #expect(read.type == "m.test" && read.content.text("text") == "hello" && read.sender == ann)
    #expect(read.device?.hasSameKeys(as: one.keys) ?? false)
    #expect(other.device.own.account.oneTimeKeys.count == 49)
    #expect(other.refusal(first, from: ann) == .undecryptable(.unreachableIndex), "a replay")
    let answer = try other.write("hello back", to: one)
    #expect(answer["ciphertext"]?.members.map { $0 }.first?.value.integer("type") == 1)
    #expect(try one.read(answer, from: bob).content.text("text") == "hello back")
  }

  @Test func `messages that overtake each other are all read`() throws {
    var (one, other) = try pair()
    let messages = try (0..<5).map { try one.write("\($0)", to: other) }
    for place in [3, 0, 4, 1, 2] {
      #expect(try other.read(messages[place], from: ann).content.text("text") == ByteString("\(place)"))
    }
  }

  @Test func `a device that is not in its user's list is proven by the keys it brings`() throws {
    var (one, other) = try pair()
    other.tracker = DeviceTracker()
    #expect(try other.read(try one.write("hello", to: other), from: ann).device?.hasSameKeys(as: one.keys) ?? false)
  }

  @Test func `what was written by or for another is refused`() throws {
    var (one, other) = try pair()
    let message = try one.write("hello", to: other)
    var copy = other
    #expect(copy.refusal(message, from: bob) == .wrongSender)
    // Another user's device with the same keys, as after a copy of the store.
    copy = other
    copy.device.own = OwnKeys(user: ann, device: other.keys.device, account: other.device.own.account)
    #expect(copy.refusal(message, from: ann) == .wrongRecipient)
    let third = try Side(of: bob, "TABLET", seed: "bob's tablet")
    copy = third
    #expect(copy.refusal(message, from: ann) == .notForThisDevice)
  }

  @Test func `a refused message changes nothing`() throws {
    var (one, other) = try pair()
    let message = try one.write("hello", to: other)
    let refusal = other.refusal(message, from: bob)
    #expect(refusal == .wrongSender && !other.sessions.hasSession(with: one.keys))
    #expect(other.device.own.account.oneTimeKeys.count == 50)
    #expect(try other.read(message, from: ann).content.text("text") == "hello")
    let second = try one.write("again", to: other)
    let again = other.refusal(second, from: bob)
    #expect(again == .wrongSender)
    #expect(try other.read(second, from: ann).content.text("text") == "again")
  }

  @Test func `a device in the list with another fingerprint is refused`() throws {
    var (one, other) = try pair()
    let message = try one.write("hello", to: other)
    // A thief's device, which names ann's identity key as its own.
    let thief = Account(random: &one.device.random)
    let forged = try #require(
      try JSON.object { writer in
        writer.member("user_id", ann)
        writer.member("device_id", "DESK" as ByteString)
        writer.key("keys")
        writer.object { writer in
          writer.member("curve25519:DESK", ByteString(decoding: one.keys.identity.text))
          writer.member("ed25519:DESK", ByteString(decoding: thief.signing.key.text))
        }
      }.signed(by: ann, "ed25519:DESK", thief.signing))
    other.tracker = DeviceTracker()
    other.tracker.track([ann])
    let query = try #require(other.tracker.nextQuery(at: 0) as DeviceTracker.DeviceQuery?)
    _ = other.tracker.answered(query, try answer([(ann, DeviceID(trusted: "DESK"), forged)]), at: 0)
    #expect(other.refusal(message, from: ann) == .wrongKeys)
  }

  @Test func `both sides begin at once and understand each other`() throws {
    var (one, other) = try pair()
    try other.begin(with: one)
    let (there, back) = (try one.write("there", to: other), try other.write("back", to: one))
    #expect(
      try one.read(back, from: bob).content.text("text") == "back"
        && other.read(there, from: ann).content.text("text") == "there")
    for round in 0..<3 {
      #expect(try other.read(try one.write("\(round)", to: other), from: ann).content.text("text") == ByteString("\(round)"))
      #expect(try one.read(try other.write("\(round)", to: one), from: bob).content.text("text") == ByteString("\(round)"))
    }
  }

  @Test
  func
    `five sessions are kept for a device; a message in one that is gone is not read, and a new one may be made once an hour`()
    throws
  {
    var (one, other) = try pair()
    let late = try one.write("late", to: other)
    _ = try other.read(try one.write("first", to: other), from: ann)
    for key in 1...5 {
      try one.begin(with: other, key: key)
      _ = try other.read(try one.write("again", to: other), from: ann)
    }
    #expect(other.refusal(late, from: ann) == .undecryptable(.unknownOneTimeKey))
    let answers = (
      other.sessions.mayRepair(one.keys, at: 0), other.sessions.mayRepair(one.keys, at: 3_599_999),
      other.sessions.mayRepair(one.keys, at: 3_600_000)
    )
    #expect(answers == (true, false, true))
    let afterClock = other.sessions.mayRepair(one.keys, at: 0)
    #expect(afterClock, "the clock was set back")
  }

  @Test func `without a session nothing is encrypted`() throws {
    var one = try Side(of: ann, "DESK", seed: "ann's desk")
    let other = try Side(of: bob, "PHONE", seed: "bob's phone")
    let content = try parsed("{}")
    #expect(!one.sessions.hasSession(with: other.keys))
    let written = try one.sessions.encrypt("m.test", content, for: other.keys, from: one.device.own, random: &one.device.random)
    #expect(written == nil)
  }

  @Test(arguments: [
    "7", "{}", #"{"algorithm":"m.olm.v2"}"#, #"{"algorithm":"m.olm.v1.curve25519-aes-sha2"}"#,
    #"{"algorithm":"m.olm.v1.curve25519-aes-sha2","sender_key":"AAAA","ciphertext":{}}"#
  ]) func `senseless content is refused`(_ text: String) throws {
    var side = try Side(of: bob, "PHONE", seed: "bob's phone")
    #expect(side.refusal(try parsed(text), from: ann) != nil)
  }

  @Test func `a senseless message within a right envelope is refused`() throws {
    var (one, other) = try pair()
    let message = try one.write("hello", to: other)
    let own = String(decoding: other.keys.identity.text, as: UTF8.self)
    for part in [
      "7", "{}", #"{"type":2,"body":"AAAA"}"#, #"{"type":0,"body":"AAAA"}"#, #"{"type":1,"body":"AwoA"}"#,
      #"{"type":0,"body":"?"}"#
    ] {
      let broken = try message.replacing(["ciphertext"]) { $0.member("ciphertext", raw: Array("{\"\(own)\":\(part)}".utf8)) }
      #expect(other.refusal(broken, from: ann) != nil)
    }
    #expect(try other.read(message, from: ann).content.text("text") == "hello", "nothing was lost by them")
  }
}
