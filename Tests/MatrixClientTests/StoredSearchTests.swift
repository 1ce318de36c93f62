import Encryption
import Glibc
import JSON
import Olm
import Synchronization
import Testing

@testable import MatrixClient

/// Search in what is stored of an encrypted room.
@Suite struct StoredSearchTests {
  private static let room = RoomID(trusted: "!tea:one.example")

  /// One sync with these events; after that nothing happens.
  private final class Server: Transport {
    private let sync: [UInt8]
    private let hasSynced = Atomic(false)

    init(_ events: [String]) {
      sync = Array(
        (#"{"next_batch":"s1","rooms":{"join":{"!tea:one.example":{"timeline":{"events":["#
          + events.joined(separator: ",") + "]}}}}}").utf8)
    }

    func carry(_ exchange: Exchange) async -> Response {
      let target = exchange.request.target
      if target.contains("/keys/upload") {
        return .answer(status: 200, body: Array(#"{"one_time_key_counts":{"signed_curve25519":50}}"#.utf8))
      }
      if target.contains("/keys/query") { return .answer(status: 200, body: Array(#"{"device_keys":{}}"#.utf8)) }
      guard target.contains("/sync") else { return .answer(status: 404, body: Array("{}".utf8)) }
      if !hasSynced.exchange(true, ordering: .relaxed) { return .answer(status: 200, body: sync) }
      // Until it is cancelled.
      try? await Task.sleep(for: .seconds(3_600))
      return .networkError
    }
  }

  private static func event(_ id: String, _ type: String, _ content: String) -> String {
    #"{"type":"\#(type)","event_id":"\#(id)","sender":"@bob:two.example","origin_server_ts":1,"content":\#(content)}"#
  }

  // Proves W21
  @Test func `clear and decrypted messages are found, and those whose keys come in a file from then on`() async throws {
    var random = SecretSource.repeating(seed: Array("a session".utf8))
    var session = OutboundGroupSession(random: &random)
    let key = RoomKey(
      Self.room, try InboundGroupSession(sharedKey: session.sharedKey.exposed()),
      .claimed(identity: Curve25519KeyPair(from: &random).key), sharesHistory: false)
    let plaintext =
      #"{"type":"m.room.message","room_id":"!tea:one.example","content":{"msgtype":"m.text","body":"secret tea"}}"#
    let ciphertext = String(decoding: Base64.encode(try session.encrypt(Array(plaintext.utf8))), as: UTF8.self)
    let sealed =
      #"{"algorithm":"m.megolm.v1.aes-sha2","session_id":"\#(key.id)","ciphertext":"\#(ciphertext)"}"#
    let server = Server([
      Self.event("$1", "m.room.message", #"{"msgtype":"m.text","body":"plain tea"}"#),
      Self.event("$2", "m.room.encrypted", sealed),
      Self.event("$3", "m.room.message", #"{"msgtype":"m.text","body":"coffee"}"#)
    ])
    let client = try await MatrixClient.restore(
      Session(userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "token"),
      homeserver: "https://one.example", transport: server, syncMode: .v3)
    try await client.waitForSync()
    func found(_ words: String) async throws -> [String] {
      var bodies: [String] = []
      for try await match in client.room(Self.room).storedMessages(with: words) { bodies.append(match.content.body.string) }
      return bodies
    }
    /// Keys that have come are in the index a moment later.
    func comesToFind(_ words: String, _ bodies: [String]) async throws -> Bool {
      for _ in 0..<200 {
        if try await found(words) == bodies { return true }
        try await Task.sleep(for: .milliseconds(25))
      }
      return false
    }
    #expect(try await found("tea") == ["plain tea"])
    let folder = TemporaryFolder(), path = folder.path + "/keys.txt"
    let derivation = try PassphraseKey(salt: random.bytes(16), rounds: 10)
    let secret = derivation.derive(from: Array("p".utf8), byteCount: KeyFile.keysByteCount)
    let file = try KeyFile.seal(ExportedRoomKey.file(of: [key]), secret, derivation, random: &random)
    #expect(PrivateFile.replace(path, with: file))
    #expect(try await client.encryption.importRoomKeys(passphrase: "p", from: path).new == 1)
    #expect(try await comesToFind("tea", ["secret tea", "plain tea"]))
    #expect(try await comesToFind("secret", ["secret tea"]))
    #expect(try await found("nothing") == [])
    await client.stop()
    await #expect(throws: ClientError.self) { try await found("tea") }
  }
}
