import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

private let tea = RoomID(trusted: "!tea:one.example"), coffee = RoomID(trusted: "!coffee:one.example")
private let phone = TestDevice(of: bob, seed: "bob's phone")

/// What comes to a room, as the server says.
private func event(
  _ content: [UInt8], by sender: UserID = bob, id: String = "$1", at timestamp: Int64 = 1_000, in room: RoomID = tea
) throws -> EncryptedEvent {
  let json = try JSON.object { writer in
    writer.member("type", "m.room.encrypted")
    writer.member("event_id", id)
    writer.member("sender", sender)
    writer.member("origin_server_ts", timestamp)
    writer.member("content", raw: content)
  }
  return try EncryptedEvent(try #require(Event(json)), in: room)
}

private func text(_ body: String) throws -> JSON { try JSON.object { $0.member("body", body) } }

private struct Writer {
  var outbound: OutboundRoom

  init(in room: RoomID = tea) {
    var random = phone.random
    outbound = OutboundRoom(room, sharesHistory: true, random: &random, at: 0)
  }

  mutating func write(_ body: String) throws -> [UInt8] {
    try outbound.encrypt(.message, try text(body), from: phone.own)
  }

  func key(_ origin: RoomKey.Origin) throws -> RoomKey {
    RoomKey(
      outbound.room, try InboundGroupSession(sharedKey: outbound.session.sharedKey.exposed()), origin, sharesHistory: true)
  }

  /// As it comes from a backup.
  func claimed() throws -> RoomKey {
    let own = try InboundGroupSession(sharedKey: outbound.session.sharedKey.exposed())
    let exported = try own.exportedKey(at: own.firstIndex).exposed()
    return RoomKey(
      outbound.room, try InboundGroupSession(exportedKey: exported),
      .claimed(identity: phone.own.account.identity.key), sharesHistory: true)
  }

  static func owner(_ device: TestDevice = phone) -> RoomKey.Owner {
    RoomKey.Owner(user: device.own.user, identity: device.own.account.identity.key, signing: device.own.account.signing.key)
  }
}

extension RoomKeys {
  fileprivate mutating func refusal(_ event: EncryptedEvent) -> Undecryptable? {
    do throws(Undecryptable) {
      _ = try decrypt(event)
      return nil
    } catch { return error }
  }

  fileprivate mutating func body(_ event: EncryptedEvent) throws -> ByteString? { try decrypt(event).content.text("body") }
}

@Suite struct RoomKeysTests {
  @Test func `a message is read as what it was, as often as it comes, and its relation is the one beside it`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    let isNew = keys.add(try writer.key(.proven(Writer.owner())))
    #expect(isNew)
    let related = try JSON.parse(Array(#"{"body":"so it is","m.relates_to":{"event_id":"$0"}}"#.utf8))
    let content = try writer.outbound.encrypt(.message, related, from: phone.own)
    for _ in 0..<2 {
      let clear = try keys.decrypt(try event(content))
      #expect(clear.type == .message && clear.content.text("body") == "so it is")
      #expect(clear.content["m.relates_to"]?.text("event_id") == "$0")
      #expect(clear.origin == .proven(Writer.owner()))
    }
    let json = try JSON.parse(content)
    let moved = try json.replacing(["m.relates_to"]) { _ in }
    let clear = try keys.decrypt(try event(Array(moved.bytes)))
    #expect(clear.content["m.relates_to"] == nil, "the payload has none")
  }

  @Test func `what is another's, of another room, or sent again, is not read`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    let hello = try writer.write("hello")
    var late = Writer()
    late.outbound.session = writer.outbound.session
    let missing = keys.refusal(try event(hello))
    #expect(missing == .missingKey)
    _ = keys.add(try late.key(.proven(Writer.owner())))
    let early = keys.refusal(try event(hello))
    #expect(early == .missingKey, "the key begins with the second message")
    let second = try writer.write("again")
    let foreign = keys.refusal(try event(second, by: ann))
    #expect(foreign == .missingKey, "Bob's session, but Ann's event")
    let elsewhere = keys.refusal(try event(second, in: coffee))
    #expect(elsewhere == .missingKey)
    #expect(try keys.body(try event(second)) == "again")
    let replayed = keys.refusal(try event(second, id: "$2"))
    #expect(replayed == .replayed)
    let moved = keys.refusal(try event(second, at: 2_000))
    #expect(moved == .replayed, "another time")
  }

  @Test func `a message that was written for another room is refused, though the key is said to be of this one`() throws {
    var (writer, keys) = (Writer(in: coffee), RoomKeys())
    let key = try writer.key(.proven(Writer.owner()))
    _ = keys.add(RoomKey(tea, key.session, key.origin, sharesHistory: false))
    let refusal = keys.refusal(try event(try writer.write("hello")))
    #expect(refusal == .ofAnotherRoom)
  }

  @Test func `a member who hands on Bob's key as an own one takes nothing from Bob`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    let hers = RoomKey.Owner(
      user: ann, identity: TestDevice(of: ann, seed: "ann").own.account.identity.key,
      signing: TestDevice(of: ann, seed: "ann").own.account.signing.key)
    let stolen = keys.add(try writer.key(.proven(hers)))
    let genuine = keys.add(try writer.key(.proven(Writer.owner())))
    #expect(stolen && genuine)
    let hello = try writer.write("hello")
    let copy = try keys.decrypt(try event(hello, by: ann, id: "$copy"))
    #expect(copy.origin == .proven(hers), "who copies a text says it themselves")
    #expect(try keys.decrypt(try event(hello)).origin == .proven(Writer.owner()))
  }

  @Test func `keys of one session are limited`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    var taken = 0
    for number in 0..<20 {
      let device = TestDevice(of: bob, seed: "\(number)")
      if keys.add(try writer.key(.proven(Writer.owner(device)))) { taken += 1 }
    }
    #expect(taken == EncryptionLimits.keysOfSession)
    _ = try writer.write("")
  }

  @Test func `a member with many devices who hands on Bob's key before Bob does not keep his out`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    for number in 0..<EncryptionLimits.keysOfSession {
      let stolen = keys.add(try writer.key(.proven(Writer.owner(TestDevice(of: ann, seed: "\(number)")))))
      #expect(stolen)
    }
    let genuine = keys.add(try writer.key(.proven(Writer.owner())))
    let more = keys.add(try writer.key(.proven(Writer.owner(TestDevice(of: ann, seed: "more")))))
    #expect(genuine && !more)
    #expect(try keys.decrypt(try event(try writer.write("hello"))).origin == .proven(Writer.owner()))
  }

  @Test func `an earlier start of the same session extends a key, a later or another one changes nothing`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    let start = try writer.key(.proven(Writer.owner())), backedUp = try writer.claimed()
    let first = try writer.write("first")
    let late = try writer.key(.proven(Writer.owner()))
    let isNew = keys.add(late), isTwice = keys.add(late)
    #expect(isNew && !isTwice)
    let missing = keys.refusal(try event(first))
    #expect(missing == .missingKey)
    // From the backup: nobody can make up an earlier start, so it is proven, too.
    let extends = keys.add(backedUp)
    #expect(extends && keys.keys(of: start.name).count == 1)
    #expect(try keys.decrypt(try event(first)).origin == .proven(Writer.owner()))
    let again = keys.add(start)
    #expect(!again)
  }

  @Test func `a key from a backup reads as not proven, until its owner's comes`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    _ = keys.add(try writer.claimed())
    let first = try writer.write("first"), second = try writer.write("second")
    let claimed = RoomKey.Origin.claimed(identity: phone.own.account.identity.key)
    #expect(try keys.decrypt(try event(first)).origin == claimed)
    // Somebody sends copies of Bob's messages: they are that one's, and Bob's stay readable.
    #expect(try keys.decrypt(try event(second, by: ann, id: "$copy")).origin == claimed)
    #expect(try keys.body(try event(second, id: "$2")) == "second")
    var late = Writer()
    late.outbound.session = writer.outbound.session
    let third = try writer.write("third")
    let isNew = keys.add(try late.key(.proven(Writer.owner())))
    #expect(isNew && keys.keys(of: RoomKeys.Name(tea, writer.outbound.id)).count == 1)
    #expect(try keys.decrypt(try event(first)).origin == .proven(Writer.owner()))
    #expect(try keys.body(try event(third, id: "$3")) == "third")
    let replayed = keys.refusal(try event(first, id: "$4"))
    #expect(replayed == .replayed, "the events of before are remembered")
    let copied = keys.refusal(try event(second, by: ann, id: "$copy"))
    #expect(copied == .missingKey)
  }

  @Test func `a wrong key in a backup does not hide the right one`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    let right = try writer.claimed()
    // The same session by name, with another ratchet.
    var bytes = try right.session.exportedKey(at: 0).exposed()
    bytes[40] ^= 1
    let wrong = RoomKey(
      tea, try InboundGroupSession(exportedKey: bytes), right.origin, sharesHistory: false)
    _ = keys.add(wrong)
    let hello = try writer.write("hello")
    let refusal = keys.refusal(try event(hello))
    #expect(refusal == .damaged)
    var isNew = keys.add(right)
    #expect(isNew)
    #expect(try keys.body(try event(hello)) == "hello")
    isNew = keys.add(wrong)
    #expect(!isNew && keys.keys(of: right.name).count == 2)
  }

  @Test(arguments: [
    (#"{"algorithm":"m.olm.v1.curve25519-aes-sha2"}"#, Undecryptable.unknownAlgorithm),
    (#"{"algorithm":"m.megolm.v1.aes-sha2"}"#, .damaged),
    (#"{"algorithm":"m.megolm.v1.aes-sha2","session_id":"x","ciphertext":"?"}"#, .damaged)
  ])
  func `an event that is none says so`(_ content: String, _ reason: Undecryptable) throws {
    var found: Undecryptable?
    do { _ = try event(Array(content.utf8)) } catch { found = error as? Undecryptable }
    #expect(found == reason)
  }

  @Test func `a damaged message is damaged, and read once it is whole`() throws {
    var (writer, keys) = (Writer(), RoomKeys())
    _ = keys.add(try writer.key(.proven(Writer.owner())))
    let hello = try writer.write("hello")
    for cut in stride(from: 1, to: 60, by: 7) {
      let json = try JSON.parse(hello)
      var text = Array(try #require(json.text("ciphertext")).utf8)
      text.removeLast(cut)
      let content = try json.replacing(["ciphertext"]) { $0.member("ciphertext", ByteString(decoding: text)) }
      if let broken = try? event(Array(content.bytes)) {
        let refusal = keys.refusal(broken)
        #expect(refusal == .damaged)
      }
    }
    #expect(try keys.body(try event(hello)) == "hello")
  }
}
