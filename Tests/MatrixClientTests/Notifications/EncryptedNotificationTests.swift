import Encryption
import JSON
import Olm
import Testing

@testable import MatrixClient

/// What a process beside the one that syncs can read of encrypted rooms.
@Suite(.timeLimit(.minutes(1))) struct EncryptedNotificationTests {
  private static let tea = NotificationReaderTests.tea

  private static func sealed(_ body: String, _ id: String, _ session: inout OutboundGroupSession) throws -> String {
    let plaintext = #"{"type":"m.room.message","room_id":"!tea:test","content":{"msgtype":"m.text","body":"\#(body)"}}"#
    let ciphertext = String(decoding: Base64.encode(try session.encrypt(Array(plaintext.utf8))), as: UTF8.self)
    let content =
      #"{"algorithm":"m.megolm.v1.aes-sha2","session_id":"\#(String(decoding: session.id, as: UTF8.self))","ciphertext":"\#(ciphertext)"}"#
    return Script.event("m.room.encrypted", content, id, by: "@carol:test")
  }

  // Proves E14
  @Test func `a guest decrypts a message with a key of the store, and of any other says that it is encrypted`() async throws {
    var random = SecretSource.repeating(seed: Array("carol".utf8))
    var session = OutboundGroupSession(random: &random), unknown = OutboundGroupSession(random: &random)
    let inbound = try InboundGroupSession(sharedKey: session.sharedKey.exposed())
    let key = RoomKey(Self.tea, inbound, .claimed(identity: Curve25519KeyPair(from: &random).key), sharesHistory: false)
    let events = [
      "secret": try Self.sealed("secret tea", "$secret", &session), "unknown": try Self.sealed("coffee", "$unknown", &unknown)
    ]
    let script = ScriptedServer { request in
      guard let event = events.first(where: { request.target.contains("/context/%24" + $0.key) }) else { return nil }
      return (200, #"{"event":\#(event.value),"state":[\#(Script.member("@carol:test", "Carol"))]}"#)
    }
    script.push(
      Script.rooms(
        Script.room("!tea:test", [Script.message("hot", "$1")], state: [Script.name("Tea"), Script.member("@me:test", "Me")])))
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let folder = TemporaryFolder(), path = folder.path + "/store", file = folder.path + "/keys.txt"
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: try SQLiteStore(path: path))
    let derivation = try PassphraseKey(salt: random.bytes(16), rounds: 10)
    let secret = derivation.derive(from: Array("p".utf8), byteCount: KeyFile.keysByteCount)
    #expect(
      PrivateFile.replace(file, with: try KeyFile.seal(ExportedRoomKey.file(of: [key]), secret, derivation, random: &random)))
    #expect(try await client.encryption.importRoomKeys(passphrase: "p", from: file).new == 1)
    let guest = try await StoreGuest(path: path)
    let told = ["$secret": "Carol in Tea: secret tea", "$unknown": "Carol in Tea: sent an encrypted message"]
    for (id, words) in told {
      #expect(
        NotificationReaderTests.describe(try await guest.notification(for: NotificationReaderTests.event(id), in: Self.tea))
          == words)
    }
    await guest.close()
    await client.stop()
  }
}
