import Glibc
import Synchronization
import Testing

@testable import MatrixClient

@Suite struct MediaCacheTests {
  static func key(_ name: String, _ size: ThumbnailSize? = nil) -> MediaKey {
    MediaKey(MediaURI(trusted: ByteString("mxc://test/" + name)), size)
  }

  /// Writes so many bytes to where the cache wants them.
  static func fetch(_ count: Int, byte: UInt8 = 7, calls: Calls? = nil) -> MediaCache.Fetch {
    { destination, _, progress in
      calls?.add()
      progress(TransferProgress(receivedBytes: Int64(count), bytesToReceive: Int64(count)))
      let bytes = [UInt8](repeating: byte, count: count)
      guard case .file(let path) = destination else { return .success(bytes) }
      write(bytes, to: path)
      return .success([])
    }
  }

  static func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "w") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  final class Calls: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  final class Clock: Sendable {
    let time = Mutex<Int64>(1_700_000_000_000)
    func now() -> Int64 { time.withLock { $0 } }
    func pass(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
  }

  /// Names and bytes of what is in the folder, the lock aside.
  static func files(in path: String) -> [String: Int64] {
    var files: [String: Int64] = [:]
    guard let folder = opendir(path) else { return [:] }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let bytes = FileSize.bytes(of: path + "/" + name), name != "lock" { files[name] = bytes }
    }
    return files
  }

  static func cache(
    _ path: String?, disk: Int64 = 1000, file: Int64 = 500, memory: Int = 0, age: Int64 = 1 << 40, _ clock: Clock = Clock()
  ) -> MediaCache {
    MediaCache(
      folder: path,
      retention: MediaRetention(diskBytes: disk, fileBytes: file, memoryBytes: memory, ageMilliseconds: age),
      now: { clock.now() })
  }

  // MARK: Bounds

  @Test(arguments: 0..<20) func `the folder never has more bytes than it may`(seed: Int) async throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/media"
    let clock = Clock()
    let cache = Self.cache(path, clock)
    var random = SystemRandomNumberGenerator()
    for step in 0..<100 {
      clock.pass(1)
      let count = Int.random(in: 0...600, using: &random)
      let key = Self.key("\(Int.random(in: 0..<20, using: &random))")
      do { _ = try await cache.file(key, nil, fetch: Self.fetch(count)) } catch {
        guard case .tooLarge(500) = error else { throw error }
      }
      if step % 30 == 29 {
        await cache.setRetention(MediaRetention(diskBytes: Int64.random(in: 500...1000), fileBytes: 500, memoryBytes: 0))
      }
      let sum = Self.files(in: path).values.reduce(0, +)
      let (counted, limit) = await (cache.diskBytes, cache.retention.diskBytes)
      #expect(sum == counted && sum <= limit)
    }
  }

  @Test func `what was used longest ago goes first`() async throws {
    let folder = TemporaryFolder()
    let clock = Clock()
    let cache = Self.cache(folder.path + "/media", clock)
    let calls = Calls()
    for name in ["a", "b", "a", "c", "d"] {
      clock.pass(1)
      _ = try await cache.file(Self.key(name), nil, fetch: Self.fetch(300, calls: calls))
    }
    #expect(calls.count == 4)
    #expect(await cache.contains(MediaURI(trusted: "mxc://test/a")))
    #expect(await !cache.contains(MediaURI(trusted: "mxc://test/b")))
  }

  @Test func `what is too large leaves nothing`() async throws {
    let folder = TemporaryFolder()
    let cache = Self.cache(folder.path + "/media")
    do {
      _ = try await cache.bytes(Self.key("a"), nil, fetch: Self.fetch(501))
      Issue.record("it came")
    } catch { guard case .tooLarge(500) = error else { throw error } }
    #expect(Self.files(in: folder.path + "/media").isEmpty)
    #expect(try await cache.bytes(Self.key("a"), nil, fetch: Self.fetch(500)).count == 500)
  }

  @Test func `memory has its bound, too, and clear empties both`() async throws {
    let folder = TemporaryFolder()
    let cache = Self.cache(folder.path + "/media", memory: 800)
    let calls = Calls()
    for name in 0..<20 { _ = try await cache.bytes(Self.key("\(name)"), nil, fetch: Self.fetch(90, calls: calls)) }
    #expect(await cache.memoryBytes <= 800)
    #expect(await cache.memoryBytes > 600)
    _ = try await cache.bytes(Self.key("large"), nil, fetch: Self.fetch(101))
    #expect(await cache.memoryBytes <= 800)
    _ = try await cache.bytes(Self.key("19"), nil, fetch: Self.fetch(90, calls: calls))
    #expect(calls.count == 20)
    await cache.clear()
    #expect(await cache.memoryBytes == 0)
    #expect(Self.files(in: folder.path + "/media").isEmpty)
  }

  @Test func `what is not used for long enough goes`() async throws {
    let folder = TemporaryFolder()
    let clock = Clock()
    let cache = Self.cache(folder.path + "/media", memory: 8000, age: 100, clock)
    let calls = Calls()
    _ = try await cache.bytes(Self.key("old"), nil, fetch: Self.fetch(50, calls: calls))
    clock.pass(60)
    _ = try await cache.file(Self.key("new"), nil, fetch: Self.fetch(60, calls: calls))
    clock.pass(60)
    #expect(await !cache.contains(MediaURI(trusted: "mxc://test/old")))
    await cache.removeExpired()
    #expect(Array(Self.files(in: folder.path + "/media").values) == [60])
    _ = try await cache.bytes(Self.key("old"), nil, fetch: Self.fetch(50, calls: calls))
    #expect(calls.count == 3)
  }

  // MARK: Names

  @Test(arguments: [
    "mxc://test/../../../etc/passwd", "mxc://../x", "mxc://./..", "mxc://test/a/b", "mxc://t/\u{0}", "/etc/passwd",
    "mxc://test/" + String(repeating: "a", count: 400), ".", "..", "mxc://test/ lock"
  ]) func `no URI is a name outside of the folder`(uri: String) async throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/media"
    let cache = Self.cache(path)
    let key = MediaKey(MediaURI(trusted: ByteString(uri)), nil)
    let file = try await cache.file(key, nil, fetch: Self.fetch(5))
    #expect(file.hasPrefix(path + "/") && !file.dropFirst(path.utf8.count + 1).contains("/"))
    #expect(Self.files(in: path).count == 1)
    #expect(try await cache.file(key, nil, fetch: Self.fetch(9)) == file)
  }

  @Test func `names tell keys apart that differ in capitals or size alone, and give the key back`() {
    let keys = [
      Self.key("abc"), Self.key("ABC"), Self.key("abc", ThumbnailSize(width: 1, height: 1)),
      Self.key("abc", ThumbnailSize(width: 1, height: 1, crops: true)), Self.key("abcd"), Self.key("")
    ]
    let names = keys.compactMap { $0.fileName }
    #expect(Set(names.map { $0.lowercased() }).count == keys.count)
    for (key, name) in zip(keys, names) { #expect(MediaKey(fileName: name) == key) }
    #expect(MediaKey(fileName: "incoming-1") == nil && MediaKey(fileName: "") == nil && MediaKey(fileName: "A") == nil)
  }

  // MARK: Restarts

  @Test func `what is whole is there after a restart, and what a kill left half is gone`() async throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/media"
    let clock = Clock()
    var cache: MediaCache? = Self.cache(path, clock)
    _ = try await cache?.file(Self.key("a"), nil, fetch: Self.fetch(100))
    clock.pass(5)
    _ = try await cache?.file(Self.key("b"), nil, fetch: Self.fetch(200, byte: 9))
    cache = nil
    let whole = try #require(Self.files(in: path).keys.first { $0.hasSuffix(".100") })
    Self.write([1], to: path + "/incoming-7.part")
    Self.write([1], to: path + "/incoming-8")
    Self.write([1], to: path + "/" + whole.replacing(".100", with: ".99"))
    Self.write([1, 2], to: path + "/" + (try #require(MediaKey(fileName: Self.key("c").fileName ?? "")?.fileName)) + ".3")
    let next = Self.cache(path, clock)
    #expect(Self.files(in: path).values.sorted() == [100, 200])
    let calls = Calls()
    #expect(try await next.bytes(Self.key("b"), nil, fetch: Self.fetch(1, calls: calls)) == [UInt8](repeating: 9, count: 200))
    #expect(calls.count == 0)
    // The order of their use was kept.
    _ = try await next.file(Self.key("d"), nil, fetch: Self.fetch(500))
    _ = try await next.file(Self.key("e"), nil, fetch: Self.fetch(250))
    #expect(await !next.contains(MediaURI(trusted: "mxc://test/a")))
    #expect(await next.contains(MediaURI(trusted: "mxc://test/b")))
  }

  @Test func `files of others in the folder stay as they are`() async throws {
    let folder = TemporaryFolder()
    let others = [
      "letter.txt", "notes.5", "holiday.2024", "archive.tar.gz", "incoming-mail", "run-away", "incoming-1x", "README", "5.5"
    ]
    for name in others { Self.write([1, 2], to: folder.path + "/" + name) }
    Self.write([1], to: folder.path + "/run-3")
    let cache = Self.cache(folder.path)
    _ = try await cache.file(Self.key("a"), nil, fetch: Self.fetch(100))
    #expect(await cache.diskBytes == 100)
    var status = stat()
    #expect(stat(try await cache.file(Self.key("a"), nil, fetch: Self.fetch(100)), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    await cache.clear()
    await cache.setRetention(MediaRetention(diskBytes: 0, fileBytes: 0, memoryBytes: 0, ageMilliseconds: 0))
    #expect(Set(Self.files(in: folder.path).keys) == Set(others))
  }

  @Test func `a folder belongs to one cache at a time, another has its memory`() async throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/media"
    let first = Self.cache(path)
    let second = Self.cache(path, memory: 8000)
    _ = try await first.file(Self.key("a"), nil, fetch: Self.fetch(100))
    _ = try await second.bytes(Self.key("b"), nil, fetch: Self.fetch(100))
    #expect(await second.memoryBytes == 100)
    #expect(Self.files(in: path).count == 1)
    await #expect(throws: ClientError.self) { _ = try await second.file(Self.key("b"), nil, fetch: Self.fetch(100)) }
  }

  @Test func `a file that was taken away is fetched again`() async throws {
    let folder = TemporaryFolder()
    let cache = Self.cache(folder.path + "/media")
    unlink(try await cache.file(Self.key("a"), nil, fetch: Self.fetch(100)))
    #expect(try await cache.bytes(Self.key("a"), nil, fetch: Self.fetch(100)).count == 100)
    #expect(await cache.diskBytes == 100)
  }
}

/// Through a client, from a server.
@Suite(.timeLimit(.minutes(1))) struct MediaDownloadTests {
  /// Downloads wait for the gate.
  final class Gate: Sendable {
    private let isOpen = Mutex(false)
    private let asked = Mutex(0)
    var askedCount: Int { asked.withLock { $0 } }
    func open() { isOpen.withLock { $0 = true } }
    func pass() {
      asked.withLock { $0 += 1 }
      while !isOpen.withLock({ $0 }) { usleep(1000) }
    }
  }

  static func client(_ answer: @escaping @Sendable (FixtureServer.Request) -> (status: Int, body: String)?) async throws
    -> (MatrixClient, ScriptedServer, FixtureServer)
  {
    let script = ScriptedServer(answer)
    script.push("")
    let server = FixtureServer(answer: script.answer)
    return (try await MatrixClient.logIn(to: server.url, user: "me", password: "x"), script, server)
  }

  @Test func `two asks are one fetch, and both hear how far it is`() async throws {
    let gate = Gate()
    let (client, script, server) = try await Self.client { request in
      guard request.target.contains("/media/") else { return nil }
      gate.pass()
      return (200, "picture")
    }
    defer { server.stop() }
    let uri = MediaURI(trusted: "mxc://test/face")
    let ends = MediaCacheTests.Calls()
    let tasks = (0..<2).map { _ in
      Task { try await client.media(uri) { received, _ in if received == 7 { ends.add() } } }
    }
    while gate.askedCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    gate.open()
    for task in tasks { #expect(try await task.value == Array("picture".utf8)) }
    #expect(try await client.media(uri) == Array("picture".utf8))
    #expect(script.requests("/media/download/").count == 1)
    #expect(ends.count >= 2)
    // A thumbnail is another thing.
    _ = try await client.media(uri, size: ThumbnailSize(width: 32, height: 32, crops: true))
    #expect(script.requests("/media/thumbnail/test/face?width=32&height=32&method=crop").count == 1)
    await client.stop()
  }

  @Test func `who gives up leaves the download to the others, the last one ends it`() async throws {
    let gate = Gate()
    let (client, _, server) = try await Self.client { request in
      guard request.target.contains("/media/") else { return nil }
      gate.pass()
      return (200, "picture")
    }
    defer { server.stop() }
    let uri = MediaURI(trusted: "mxc://test/face")
    let first = Task { try await client.media(uri) }
    let second = Task { try await client.media(uri) }
    while gate.askedCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    first.cancel()
    await #expect(throws: ClientError.self) { try await first.value }
    gate.open()
    #expect(try await second.value == Array("picture".utf8))
    let late = Gate()
    let (other, _, otherServer) = try await Self.client { request in
      guard request.target.contains("/media/") else { return nil }
      late.pass()
      return (200, "picture")
    }
    defer { otherServer.stop() }
    let only = Task { try await other.media(uri) }
    while late.askedCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    only.cancel()
    await #expect(throws: ClientError.self) { try await only.value }
    late.open()
    #expect(await !other.mediaCache.contains(uri))
    await client.stop()
    await other.stop()
  }

  @Test func `a refusal is what the server said, and the next ask tries again`() async throws {
    let isThere = Mutex(false)
    let (client, _, server) = try await Self.client { request in
      guard request.target.contains("/media/") else { return nil }
      return isThere.withLock { $0 } ? (200, "here") : (404, #"{"errcode":"M_NOT_FOUND","error":"gone"}"#)
    }
    defer { server.stop() }
    let folder = TemporaryFolder()
    await client.useMediaCache(MediaCache(folder: folder.path + "/media"))
    let uri = MediaURI(trusted: "mxc://test/face")
    do {
      _ = try await client.mediaFile(uri)
      Issue.record("it came")
    } catch { guard case .refused(404, .notFound, "gone", _) = error else { throw error } }
    #expect(MediaCacheTests.files(in: folder.path + "/media").isEmpty)
    isThere.withLock { $0 = true }
    let path = try await client.mediaFile(uri)
    #expect(FileSize.bytes(of: path) == 4)
    await client.stop()
  }
}

@Suite struct FileSignatureTests {
  @Test(
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], FileSignature.png), ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
      (Array("GIF89a".utf8), .gif), (Array("RIFF....WEBPVP8".utf8), .webP), (Array("RIFF....WAVE".utf8), .wav),
      (Array("....ftypisom".utf8), .mp4), (Array("....ftypavif".utf8), .avif), (Array("OggS".utf8), .ogg),
      (Array("fLaC".utf8), .flac), (Array("%PDF-1.7".utf8), .pdf), ([0x1A, 0x45, 0xDF, 0xA3], .webM), ([0xFF, 0xFB, 0x90], .mp3)
    ] as [([UInt8], FileSignature)]) func `a file is what its bytes say`(bytes: [UInt8], signature: FileSignature)
  {
    #expect(FileSignature(bytes) == signature)
  }

  @Test(arguments: ["", "<svg xmlns=", "<!DOCTYPE html><script>", "RIFF....", "MZ", "#!/bin/sh", "\u{89}PN"])
  func `what can run or is unknown is nothing to be shown`(text: String) {
    #expect(FileSignature(Array(text.utf8)) == nil)
  }
}
