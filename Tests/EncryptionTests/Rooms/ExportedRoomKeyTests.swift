import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct ExportedRoomKeyTests {
  private static let places: [ExportedRoomKey.Place] = [.backup, .file, .bundle]

  private func written(_ key: RoomKey, for place: ExportedRoomKey.Place) throws -> JSON {
    var writer = JSONWriter()
    ExportedRoomKey(key).write(for: place, to: &writer)
    return try JSON.parse(writer.bytes)
  }

  @Test(arguments: places)
  func `a written key reads the same messages, and only claims its owner`(_ place: ExportedRoomKey.Place) throws {
    var session = try TestSession()
    let name = session.name, key = session.proven()
    let read = try ExportedRoomKey(try written(key, for: place), from: place, as: name)
    #expect(read.roomKey.name == name && read.roomKey.origin == .claimed(identity: session.owner.identity))
    #expect(read.fingerprint == session.owner.signing && read.roomKey.sharesHistory)
    var keys = RoomKeys()
    #expect(keys.add(read.roomKey) == true)
    #expect(try keys.decrypt(try session.event("tea")).content.text("body") == "tea")
    #expect(try session.proven().session.agrees(with: read.session))
  }

  @Test func `a key is written from its first index on, also if it only claims its owner`() throws {
    let session = try TestSession(sharesHistory: false), key = try session.claimed(at: 7)
    let json = try written(key, for: .file)
    #expect(json["sender_claimed_keys"]?.isObject ?? false && json["sender_claimed_keys"]?["ed25519"] == nil)
    let read = try ExportedRoomKey(json, from: .file)
    #expect(
      read.session.firstIndex == 7 && read.sender == session.owner.identity && read.fingerprint == nil && !read.sharesHistory)
  }

  @Test func `each place has the members that the specification says`() throws {
    let key = try TestSession().proven()
    let common = ["algorithm", "sender_claimed_keys", "sender_key", "session_key"]
    let history = ["forwarding_curve25519_key_chain", "org.matrix.msc3061.shared_history", "shared_history"]
    for (place, members) in [
      (.backup, common + history), (.file, common + history + ["room_id", "session_id"]),
      (.bundle, common + ["room_id", "session_id"])
    ] as [(ExportedRoomKey.Place, [String])] {
      #expect(try written(key, for: place).members.map(\.key.string).sorted() == members.sorted())
    }
  }

  @Test func `the mark for members who come later is read under both names, and a bundle has it by itself`() throws {
    let json = try written(try TestSession().proven(), for: .file)
    func isShared(_ text: String, from place: ExportedRoomKey.Place = .file) throws -> Bool {
      let changed = try json.replacing(["shared_history", "org.matrix.msc3061.shared_history"]) { writer in
        for member in try! parsed(text).members { writer.key(member.key); writer.write(member.value) }
      }
      return try ExportedRoomKey(changed, from: place).sharesHistory
    }
    #expect(try isShared(#"{"shared_history":true}"#) && isShared(#"{"org.matrix.msc3061.shared_history":true}"#))
    #expect(try !isShared("{}") && !isShared(#"{"shared_history":false,"org.matrix.msc3061.shared_history":true}"#))
    #expect(try isShared("{}", from: .bundle))
  }

  @Test func `a key of another room, session or shape is refused`() throws {
    let session = try TestSession(), other = try TestSession(seed: "other")
    let json = try written(session.proven(), for: .file), bare = try written(session.proven(), for: .backup)
    func refusal(_ json: JSON, as name: RoomKeys.Name? = nil) -> RoomKeyRefusal? {
      do throws(RoomKeyRefusal) {
        _ = try ExportedRoomKey(json, from: .file, as: name)
        return nil
      } catch { return error }
    }
    #expect(refusal(json) == nil && refusal(json, as: session.name) == nil && refusal(bare, as: session.name) == nil)
    #expect(refusal(bare) == .malformed)
    #expect(refusal(json, as: other.name) == .malformed && refusal(bare, as: other.name) == .malformed)
    let elsewhere = RoomKeys.Name(RoomID(trusted: "!coffee:one.example"), session.name.session)
    #expect(refusal(json, as: elsewhere) == .malformed && refusal(bare, as: elsewhere) == nil, "only its place names the room")
    func changed(_ key: StaticString, _ value: String) throws -> JSON {
      try json.replacing([key]) { $0.member(key, raw: Array(value.utf8)) }
    }
    #expect(try refusal(changed("algorithm", #""m.other""#)) == .unknownAlgorithm)
    #expect(try refusal(changed("session_id", #""\#(other.name.session.string)""#)) == .malformed)
    let shared = Base64.encode(session.outbound.session.sharedKey.exposed())
    for (key, wrong) in [
      ("session_key", "7"), ("session_key", #""AAAA""#), ("session_key", #""\#(String(decoding: shared, as: UTF8.self))""#),
      ("sender_key", #""AAAA""#), ("room_id", "7")
    ] as [(StaticString, String)] { #expect(try refusal(changed(key, wrong)) == .malformed) }
    for senseless in ["7", "[]", "{}"] { #expect(refusal(try parsed(senseless), as: session.name) == .unknownAlgorithm) }
  }

  @Test func `a key file of matrix-nio has a session that reads its message`() throws {
    let file = try KeyFile(Array(KeptVectors.keyFile.utf8))
    let secret = file.passphraseKey.derive(from: Array("correct horse".utf8), byteCount: KeyFile.keysByteCount)
    let (keys, refused) = try ExportedRoomKey.keys(ofFile: try file.open(secret))
    #expect(keys.map(\.name.session) == [ByteString(KeptVectors.keyFileSessionID)] && refused == 0)
    let content = JSONWriter.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("session_id", KeptVectors.keyFileSessionID)
      writer.member("ciphertext", KeptVectors.keyFileMessage)
    }
    var known = RoomKeys()
    #expect(known.add(keys[0]) == true)
    #expect(try known.decrypt(try TestSession().event(content)).content.text("body") == "tea")
  }

  @Test func `a key file has all keys, and one that is unusable takes no other with it`() throws {
    let one = try TestSession(), other = try TestSession(seed: "other")
    let text = ExportedRoomKey.file(of: [one.proven(), try other.claimed()])
    let read = try ExportedRoomKey.keys(ofFile: text)
    #expect(read.keys.map(\.name) == [one.name, other.name] && read.refused == 0)
    let damaged = Array("[7,{},".utf8) + text.dropFirst()
    let rest = try ExportedRoomKey.keys(ofFile: damaged)
    #expect(rest.keys.map(\.name) == [one.name, other.name] && rest.refused == 2)
    #expect(try ExportedRoomKey.keys(ofFile: ExportedRoomKey.file(of: [])).keys.isEmpty)
    for senseless in ["", "{}", "7", "[7"] {
      #expect(throws: RoomKeyRefusal.malformed) { try ExportedRoomKey.keys(ofFile: Array(senseless.utf8)) }
    }
  }
}
