import Encryption
import Glibc
import JSON
import Olm
import Testing

@testable import MatrixClient

/// Room keys in files, by the client's face.
@Suite struct KeyFileTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.path + "/keys.txt" }

  private static let session = Session(
    userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "token")

  /// A client whose server answers nothing.
  private func client(encrypts: Bool = true) async throws -> MatrixClient {
    try await MatrixClient.restore(
      Self.session, transport: NoTransport(), encrypts: encrypts)
  }

  private struct NoTransport: Transport {
    func carry(_ exchange: Exchange) async -> Response { .networkError }
  }

  private static func keys(_ count: Int, room: ByteString = "!tea:one.example") throws -> [RoomKey] {
    try (0..<count).map { number in
      var random = SecretSource.repeating(seed: Array("\(room) \(number)".utf8))
      let outbound = OutboundGroupSession(random: &random)
      let sender = Curve25519KeyPair(from: &random).key
      return RoomKey(
        RoomID(trusted: room), try InboundGroupSession(sharedKey: outbound.sharedKey.exposed()), .claimed(identity: sender),
        sharesHistory: false)
    }
  }

  /// Of few rounds, as a test needs no more.
  private static func file(_ plaintext: [UInt8], passphrase: String = "correct horse") throws -> [UInt8] {
    var random = SecretSource.system
    let derivation = try PassphraseKey(salt: random.bytes(16), rounds: 10)
    let secret = derivation.derive(from: Array(passphrase.utf8), byteCount: KeyFile.keysByteCount)
    return try KeyFile.seal(plaintext, secret, derivation, random: &random)
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "w"))
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
  }

  private func refusal(_ body: () async throws(KeyFileError) -> Void) async -> KeyFileError? {
    do throws(KeyFileError) { try await body() } catch { return error }
    return nil
  }

  @Test func `keys go from a client to another by a file that only its owner may read`() async throws {
    let one = try await client(), other = try await client()
    let keys = try Self.keys(230) + Self.keys(2, room: "!coffee:one.example")
    try write(Self.file(ExportedRoomKey.file(of: keys)), to: path)
    let steps = Steps()
    let imported = try await one.encryption.importRoomKeys(passphrase: "correct horse", from: path) { steps.add($0, $1) }
    #expect(imported == MatrixEncryption.ImportedKeys(total: 232, new: 232, unusable: 0))
    #expect(steps.all == [[100, 232], [200, 232], [232, 232]])
    let all = folder.path + "/all", room = folder.path + "/room"
    #expect(try await one.encryption.exportRoomKeys(passphrase: "p", to: all) == 232)
    #expect(
      try await one.encryption.exportRoomKeys(of: RoomID(trusted: "!coffee:one.example"), passphrase: "p", to: room) == 2)
    var status = stat()
    #expect(stat(all, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try await other.encryption.importRoomKeys(passphrase: "p", from: room).new == 2)
    let rest = try await other.encryption.importRoomKeys(passphrase: "p", from: all)
    #expect(rest == MatrixEncryption.ImportedKeys(total: 232, new: 230, unusable: 0))
    await one.stop()
    await other.stop()
  }

  private final class Steps: @unchecked Sendable {
    // Written by one task.
    private(set) var all: [[Int]] = []
    func add(_ done: Int, _ total: Int) { all.append([done, total]) }
  }

  @Test func `a file that is not right says what is wrong, and nothing is taken`() async throws {
    let client = try await client()
    let good = try Self.file(ExportedRoomKey.file(of: Self.keys(1)))
    var newer = Array(good)
    // The version is the first byte of the base64, behind the first line.
    newer[36] = UInt8(ascii: "B")
    for (bytes, passphrase, wanted) in [
      (good, "wrong horse", .wrongPassphrase), (Array("keys".utf8), "p", .notAKeyFile), ([], "p", .notAKeyFile),
      (Array(good.dropLast(10)), "p", .cutOff), (newer, "correct horse", .unknownVersion),
      (try Self.file(Array("{}".utf8)), "correct horse", .notAKeyFile)
    ] as [([UInt8], String, KeyFileError)] {
      try write(bytes, to: path)
      #expect(
        await refusal { () async throws(KeyFileError) in
          _ = try await client.encryption.importRoomKeys(passphrase: passphrase, from: path)
        } == wanted)
    }
    let large = try #require(fopen(path, "w"))
    #expect(ftruncate(fileno(large), KeyFile.textBytesLimit + 1) == 0)
    fclose(large)
    for (path, wanted) in [
      (path, .tooLarge(limitBytes: KeyFile.textBytesLimit)), (folder.path + "/none", .unreadableFile),
      (folder.path, .unreadableFile)
    ] as [(String, KeyFileError)] {
      #expect(
        await refusal { () async throws(KeyFileError) in
          _ = try await client.encryption.importRoomKeys(passphrase: "p", from: path)
        } == wanted)
    }
    try write(good, to: path)
    #expect(try await client.encryption.importRoomKeys(passphrase: "correct horse", from: path).new == 1)
    await client.stop()
  }

  @Test func `an export that fails leaves the file that was there`() async throws {
    let client = try await client(), plain = try await self.client(encrypts: false)
    try write([1, 2, 3], to: path)
    for (client, passphrase, path, wanted) in [
      (client, "", path, .noPassphrase), (client, "p", folder.path + "/none/keys", .unwritableFile),
      (plain, "p", path, .noEncryption)
    ] as [(MatrixClient, String, String, KeyFileError)] {
      #expect(
        await refusal { () async throws(KeyFileError) in
          _ = try await client.encryption.exportRoomKeys(passphrase: passphrase, to: path)
        } == wanted)
    }
    #expect(FileBytes.read(path) == [1, 2, 3] && folder.names == ["keys.txt"])
    await client.stop()
    #expect(
      await refusal { () async throws(KeyFileError) in
        _ = try await client.encryption.exportRoomKeys(passphrase: "p", to: path)
      } == .noEncryption)
    await plain.stop()
  }
}
