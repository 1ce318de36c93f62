import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct BackupDownloadTests {
  private let pair: Curve25519KeyPair = {
    var random = SecretSource.repeating(seed: [9])
    return Curve25519KeyPair(from: &random)
  }()

  /// The server's answer to a request for everything.
  private func backedUp(_ sessions: [TestSession], to key: Curve25519Key? = nil) throws -> JSON {
    var random = SecretSource.system
    let uploads = sessions.compactMap {
      BackupUpload.Session($0.proven(), isVerified: false, to: key ?? pair.key, random: &random)
    }
    return try JSON.parse(BackupUpload(version: "1", sessions: uploads).body)
  }

  private func data(_ session: TestSession) throws -> JSON {
    try #require(try backedUp([session])["rooms"]?[session.room.text]?["sessions"]?[session.name.session])
  }

  @Test func `a session that vodozemac encrypted is read, and reads its message`() throws {
    let secret = try #require(Base64.decode(Array(KeptVectors.backupSecret.utf8)))
    let pair = try #require(Curve25519KeyPair(Secret(secret)))
    #expect(pair.key.text == Array(KeptVectors.backupKey.utf8))
    let name = RoomKeys.Name(RoomID(trusted: "!tea:one.example"), ByteString(KeptVectors.backedUpSessionID))
    var download = BackupDownload(try parsed(KeptVectors.backedUpSession), of: .session(name), with: pair)
    let read = download.next()
    let key = try #require(read.first)
    #expect(key.name == name && !key.sharesHistory)
    let sender = try #require(Base64.decode(Array(KeptVectors.backedUpSender.utf8)).flatMap { Curve25519Key($0) })
    #expect(key.origin == .claimed(identity: sender))
    let content = try JSON.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("session_id", KeptVectors.backedUpSessionID)
      writer.member("ciphertext", KeptVectors.backedUpMessage)
    }
    var keys = RoomKeys()
    _ = keys.add(key)
    #expect(try keys.decrypt(try TestSession().event(Array(content.bytes))).content.text("body") == "tea")
  }

  @Test func `a download comes in slices, for everything, a room or a session`() throws {
    let sessions = try (0..<5).map { try TestSession(seed: "session \($0)") }
    let other = try TestSession(RoomID(trusted: "!coffee:one.example"), seed: "other")
    let answer = try backedUp(sessions + [other])
    var all = BackupDownload(answer, of: .all, with: pair)
    var slices: [Int] = [], names: Set<RoomKeys.Name> = []
    while all.remaining > 0 {
      let keys = all.next(4)
      slices.append(keys.count)
      names.formUnion(keys.map(\.name))
    }
    #expect(slices == [4, 2] && names == Set((sessions + [other]).map(\.name)) && all.next(.max).isEmpty && all.count == 6)
    var ahead = BackupDownload(answer, of: .all, with: pair)
    ahead.workAhead()
    ahead.workAhead()
    #expect(ahead.remaining == 0 && !ahead.isDone, "they are decrypted, and not handed on")
    let prepared = ahead.next()
    #expect(Set(prepared.map(\.name)) == names && ahead.isDone)
    let room = try #require(answer["rooms"]?[sessions[0].room.text])
    var ofRoom = BackupDownload(room, of: .room(sessions[0].room), with: pair)
    let keys = ofRoom.next()
    #expect(Set(keys.map(\.name)) == Set(sessions.map(\.name)) && ofRoom.unreadable == 0)
  }

  @Test func `whatever is wrong with a session is one error, and the others are read`() throws {
    let session = try TestSession(), other = try TestSession(seed: "other")
    let data = try data(session), message = try #require(data["session_data"])
    func refusal(_ json: JSON, _ name: RoomKeys.Name? = nil, _ pair: Curve25519KeyPair? = nil) -> BackupRefusal? {
      do throws(BackupRefusal) {
        _ = try BackupDownload.key(json, name ?? session.name, pair ?? self.pair)
        return nil
      } catch { return error }
    }
    #expect(refusal(data) == nil)
    #expect(refusal(data, other.name) == .unreadable, "another session in its place")
    let stranger = try #require(Curve25519KeyPair(Secret([UInt8](repeating: 3, count: 32))))
    #expect(refusal(data, nil, stranger) == .unreadable)
    func changed(_ key: StaticString, _ value: String) throws -> JSON {
      let changed = try message.replacing([key]) { $0.member(key, raw: Array(value.utf8)) }
      return try data.replacing(["session_data"]) { $0.member("session_data", changed) }
    }
    let zeros = String(decoding: Base64.encode([UInt8](repeating: 0, count: 32)), as: UTF8.self)
    for (key, wrong) in [
      ("ephemeral", "7"), ("ephemeral", #""AAAA""#), ("ephemeral", #""\#(zeros)""#), ("mac", #""AAAA""#), ("mac", "7"),
      ("ciphertext", #""""#), ("ciphertext", #""AAAA""#), ("ciphertext", "7")
    ] as [(StaticString, String)] { #expect(try refusal(changed(key, wrong)) == .unreadable) }
    for senseless in ["7", "{}", #"{"session_data":[]}"#] { #expect(refusal(try parsed(senseless)) == .unreadable) }
    // Encrypted to the right key, but not a session.
    var random = SecretSource.system
    for text in ["", "7", "{}", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#] {
      let wrong = try BackupCipher.encrypt(Array(text.utf8), to: pair.key, random: &random)
      let json = try JSON.object { writer in
        writer.key("session_data")
        writer.object { writer in
          writer.member("ephemeral", base64: wrong.ephemeral.bytes)
          writer.member("ciphertext", base64: wrong.ciphertext)
          writer.member("mac", base64: wrong.mac)
        }
      }
      #expect(refusal(json) == .unreadable)
    }

    let sessions = try #require(try backedUp([session, other])["rooms"]?[session.room.text]?["sessions"])
    let mixed = try JSON.object { writer in
      writer.key("sessions")
      writer.object { writer in
        writer.member("broken", raw: Array("7".utf8))
        for member in sessions.members {
          writer.key(member.key)
          writer.write(member.value)
        }
      }
    }
    var download = BackupDownload(mixed, of: .room(session.room), with: pair)
    let keys = download.next()
    #expect(keys.count == 2 && download.unreadable == 1)
  }

  @Test(arguments: ["7", "[]", "{}", #"{"rooms":7}"#, #"{"rooms":{"!a:b":7,"nonsense":{"sessions":{"a":{}}}}}"#])
  func `a senseless answer has no sessions`(_ text: String) throws {
    var download = BackupDownload(try parsed(text), of: .all, with: pair)
    let keys = download.next()
    #expect(keys.isEmpty && download.remaining == 0)
  }

  @Test func `a key from the backup is not proven, and never replaces its owner's`() throws {
    let session = try TestSession()
    var download = BackupDownload(try data(session), of: .session(session.name), with: pair)
    let read = download.next()
    var keys = RoomKeys()
    let isProvenNew = keys.add(session.proven()), isBackupNew = keys.add(try #require(read.first))
    #expect(isProvenNew && !isBackupNew && keys.keys(of: session.name).map(\.origin) == [.proven(session.owner)])
  }
}
