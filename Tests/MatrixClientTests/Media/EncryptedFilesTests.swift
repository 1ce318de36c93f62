import Glibc
import JSON
import Olm
import Synchronization
import Testing

@testable import Encryption
@testable import MatrixClient

/// Encrypted files on their way to the server and back.
@Suite struct EncryptedFilesTests {
  private let folder = TemporaryFolder()

  private static func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "w"))
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
  }

  private static func encrypted(_ bytes: [UInt8]) throws -> (ciphertext: [UInt8], keys: FileKeys) {
    let encrypter = FileEncrypter()
    encrypter.begin()
    var bytes = bytes
    bytes.withUnsafeMutableBytes { encrypter.encrypt($0) }
    return (bytes, try #require(encrypter.keys))
  }

  private static func opened(_ ciphertext: [UInt8], _ keys: FileKeys) throws -> [UInt8] {
    var (reader, bytes) = (try AttachmentReader(keys), ciphertext)
    reader.decrypt(&bytes)
    try reader.verify()
    return bytes
  }

  // MARK: Up

  // Proves E13
  @Test(arguments: [0, 1, 65_536, 1_000_003])
  func `a file is encrypted while it is sent, and its keys open what the server got`(count: Int) async throws {
    let received = Mutex<[UInt8]>([])
    let server = FixtureServer { request in
      received.withLock { $0 = request.bytes }
      return (200, "{}")
    }
    defer { server.stop() }
    let content = Self.content(count), path = folder.path + "/plan"
    try write(content, to: path)
    var exchange = Exchange(
      HTTPRequest(
        method: .post, target: "/upload", body: nil, contentType: "application/octet-stream", accessToken: nil,
        timeoutMilliseconds: 10_000), to: server.url)
    let encrypter = FileEncrypter()
    exchange.body = .encryptedFile(path: path, encrypter)
    guard case .answer(200, _) = await standardTransport().carry(exchange) else { return #expect(Bool(false), "no answer") }
    let ciphertext = received.withLock { $0 }
    #expect(ciphertext.count == count && (ciphertext != content || count == 0))
    let keys = try #require(encrypter.keys)
    #expect(try Self.opened(ciphertext, keys) == content)
    #expect(keys.counter.string.hasSuffix("AAAAAAAAAA"), "64 bits of it are zeros")
  }

  @Test func `each beginning has a new key and a new counter`() throws {
    let one = try Self.encrypted([1, 2, 3]), other = try Self.encrypted([1, 2, 3])
    #expect(one.keys.key != other.keys.key && one.keys.counter != other.keys.counter)
    let encrypter = FileEncrypter()
    var bytes: [UInt8] = [1, 2, 3]
    bytes.withUnsafeMutableBytes { encrypter.encrypt($0) }
    encrypter.begin()
    bytes = [4, 5]
    bytes.withUnsafeMutableBytes { encrypter.encrypt($0) }
    #expect(try Self.opened(bytes, #require(encrypter.keys)) == [4, 5] && encrypter.byteCount == 2)
  }

  @Test func `a file of ciphertext is made for a transport that reads files by itself`() throws {
    let path = folder.path + "/plan", content = Self.content(200_001)
    try write(content, to: path)
    let encrypter = FileEncrypter()
    let file = try #require(TemporaryFile(encrypting: path, by: encrypter))
    defer { file.remove() }
    #expect(try Self.opened(#require(FileBytes.read(file.path)), #require(encrypter.keys)) == content)
    #expect(TemporaryFile(encrypting: folder.path + "/none", by: encrypter) == nil)
  }

  // MARK: Down

  /// A content repository.
  private struct Repository: Transport {
    let files: [String: [UInt8]]
    let asked = Asked()

    final class Asked: Sendable {
      let targets = Mutex<[String]>([])
      let limits = Mutex<[String: Int]>([:])
    }

    func carry(_ exchange: Exchange) async -> Response {
      asked.targets.withLock { $0.append(exchange.request.target) }
      guard let name = exchange.request.target.split(separator: "/").last.map(String.init), let bytes = files[name] else {
        return .answer(status: 404, body: Array("{}".utf8))
      }
      asked.limits.withLock { $0[name] = exchange.answerBytesLimit }
      guard case .file(let path) = exchange.destination else { return .answer(status: 200, body: bytes) }
      guard let sink = FileSink(path: path), bytes.withUnsafeBytes({ sink.append($0) }), sink.finish() else {
        return .networkError
      }
      return .answer(status: 200, body: [])
    }
  }

  private func client(_ repository: Repository) async throws -> MatrixClient {
    try await MatrixClient.restore(
      Session(userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "token"),
      homeserver: "https://one.example", transport: repository, encrypts: false)
  }

  private static func file(_ name: String, _ keys: FileKeys) throws -> EncryptedFile {
    EncryptedFile(try #require(MediaURI(ByteString("mxc://one.example/\(name)"))), keys)
  }

  private func refusal(_ body: () async throws(ClientError) -> Void) async -> String? {
    do throws(ClientError) { try await body() } catch { return "\(error)" }
    return nil
  }

  // Proves E13
  @Test func `a file is decrypted, in memory and to a path, and the folder of the cache has ciphertext`() async throws {
    let content = Self.content(300_000), sealed = try Self.encrypted(content)
    let client = try await client(Repository(files: ["a": sealed.ciphertext]))
    let cache = folder.path + "/cache"
    await client.useMediaCache(MediaCache(folder: cache))
    let file = try Self.file("a", sealed.keys)
    for _ in 0..<2 { #expect(try await client.media(file) == content) }
    #expect(await client.mediaCache.diskBytes == 300_000)
    let kept = try await client.mediaFile(file.source)
    #expect(FileBytes.read(kept) == sealed.ciphertext)
    try await client.download(file, to: folder.path + "/plan")
    #expect(FileBytes.read(folder.path + "/plan") == content)
    #expect(folder.names == ["cache", "plan"], "no ciphertext stays beside it")
    await client.mediaCache.clear()
    unlink(cache + "/" + MediaFolder.lockName)
    rmdir(cache)
    await client.stop()
  }

  @Test func `what was changed on the server, or has senseless keys, is not handed out`() async throws {
    let content = Self.content(100_000), sealed = try Self.encrypted(content)
    var changed = sealed.ciphertext
    changed[99_999] ^= 1
    let client = try await client(
      Repository(files: ["changed": changed, "short": Array(sealed.ciphertext.dropLast()), "a": sealed.ciphertext]))
    let keys = sealed.keys
    let senseless = try #require(
      FileKeys(key: ByteString(String(repeating: "!", count: 43)), counter: keys.counter, digest: keys.digest))
    let wrong = try #require(FileKeys(key: keys.key, counter: keys.counter, digest: keys.key))
    let path = folder.path + "/plan"
    for file in [
      try Self.file("changed", keys), try Self.file("short", keys), try Self.file("a", senseless), try Self.file("a", wrong)
    ] {
      #expect(await refusal { () async throws(ClientError) in _ = try await client.media(file) } == "damagedAttachment")
      #expect(
        await refusal { () async throws(ClientError) in try await client.download(file, to: path) } == "damagedAttachment")
    }
    #expect(folder.names.isEmpty, "neither whole nor in part")
    await client.stop()
  }

  @Test func `a file larger than the cache takes is refused before it is decrypted`() async throws {
    let server = FixtureServer { request in
      request.target.contains("/media/download/")
        ? (200, String(repeating: "x", count: 200_001)) : (200, #"{"next_batch":"s"}"#)
    }
    defer { server.stop() }
    let client = try await MatrixClient.restore(
      Session(
        userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "token",
        homeserver: ServerURL(server.url)), encrypts: false)
    await client.useMediaCache(MediaCache(retention: MediaRetention(memoryBytes: 8 * 200_000)))
    let file = try Self.file("a", Self.encrypted([1]).keys)
    #expect(
      await refusal { () async throws(ClientError) in _ = try await client.media(file) } == "tooLarge(limitBytes: 200000)")
    await client.useMediaCache(MediaCache(retention: MediaRetention(memoryBytes: 8 * 200_001)))
    #expect(await refusal { () async throws(ClientError) in _ = try await client.media(file) } == "damagedAttachment")
    await client.stop()
  }

  @Test func `a room's history is downloaded up to its own limit, and is not kept in the cache`() async throws {
    let sealed = try Self.encrypted(Self.content(100))
    let repository = Repository(files: ["history": sealed.ciphertext])
    let client = try await client(repository)
    var writer = JSONWriter()
    try Self.file("history", sealed.keys).write(to: &writer)
    await client.take(
      HistoryOffer(
        room: RoomID(trusted: "!tea:one.example"), giver: UserID(trusted: "@bob:one.example"),
        file: try JSON.parse(writer.bytes)))
    #expect(repository.asked.limits.withLock { $0["history"] } == RoomKeyBundle.bytesLimit)
    #expect(await client.mediaCache.memoryBytes == 0)
    await client.stop()
  }

  @Test func `no thumbnail of an encrypted file is asked from the server`() async throws {
    let small = try Self.encrypted([1, 2, 3])
    let repository = Repository(files: ["small": small.ciphertext])
    let client = try await client(repository)
    var picture = Attachment(fileName: "cat.png")
    picture.encrypted = try Self.file("a", small.keys)
    let size = ThumbnailSize(width: 32, height: 32)
    #expect(try await client.thumbnail(of: picture, size: size) == nil)
    picture.encryptedThumbnail = try Self.file("small", small.keys)
    #expect(try await client.thumbnail(of: picture, size: size) == [1, 2, 3])
    let targets = repository.asked.targets.withLock { $0.filter { $0.contains("media") } }
    #expect(targets.count == 1 && !targets[0].contains("thumbnail"), "\(targets)")
    await client.stop()
  }
}
