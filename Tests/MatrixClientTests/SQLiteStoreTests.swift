import Glibc
import JSON
import Testing

@testable import MatrixClient

@Suite struct SQLiteStoreTests {
  let folder = TemporaryFolder()
  var path: String { folder.path + "/store" }

  static func put(_ key: String, _ value: String) -> StoreOperation {
    .put(key: ByteString(key), value: Array(value.utf8))
  }

  @Test func `only the owner may read what lies on the disk`() async throws {
    let mask = umask(0)
    defer { umask(mask) }
    let store = try SQLiteStore(path: path)
    try await store.write([Self.put("a", "1")])
    #expect(folder.names == ["store", "store-key", "store-owner", "store-shm", "store-wal", "store-write"])
    for name in folder.names {
      var status = stat()
      #expect(stat(folder.path + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    await store.close()
  }

  @Test func `a second owner is refused until the first has closed`() async throws {
    let first = try SQLiteStore(path: path)
    #expect { try SQLiteStore(path: path) } throws: { if case StoreError.inUse = $0 { true } else { false } }
    await first.close()
    let second = try SQLiteStore(path: path)
    await #expect { try await first.load(StoreRange(prefix: "")) } throws: {
      if case StoreError.closed = $0 { true } else { false }
    }
    await second.close()
  }

  @Test func `a folder that is not there is said so`() {
    #expect { try SQLiteStore(path: "/nowhere/store") } throws: { if case StoreError.system = $0 { true } else { false } }
  }

  @Test func `a guest finds no store before there is one`() async {
    await #expect { try await StoreGuest(path: path) } throws: { if case StoreError.missing = $0 { true } else { false } }
  }

  @Test func `a guest writes nothing but into the inbox`() async throws {
    let owner = try SQLiteStore(path: path)
    try await owner.write([Self.put("a/sync", "1")])
    let guest = try SQLiteStore(path: path, isOwner: false, key: .file)
    #expect(texts(try await guest.load(StoreRange(prefix: ""))) == ["a/sync=1"])
    for operations in [
      [Self.put("a/sync", "2")], [.deleteAll(prefix: "a/inbox/")], [Self.put("a/inbox/1", "x"), .delete(key: "a")]
    ] {
      await #expect { try await guest.write(operations) } throws: { if case StoreError.notOwner = $0 { true } else { false } }
    }
    #expect(await owner.hasForeignWrites() == false)
    try await guest.write([Self.put("a/inbox/1", "x")])
    #expect(await owner.hasForeignWrites())
    #expect(await owner.hasForeignWrites() == false)
    #expect(texts(try await owner.load(StoreRange(prefix: ""))) == ["a/inbox/1=x", "a/sync=1"])
    await guest.close()
    await owner.close()
  }

  @Test func `a file of a newer program is left as it is`() async throws {
    let store = try SQLiteStore(path: path)
    try await store.write([Self.put("a", "1")])
    await store.close()
    // `user_version`, big-endian. SQLite: "Database File Format", 1.3.
    try overwrite(at: 60, [0, 0, 0, 99])
    let before = FileBytes.read(path)
    #expect { try SQLiteStore(path: path) } throws: {
      if case StoreError.newer(_, version: 99) = $0 { true } else { false }
    }
    #expect(FileBytes.read(path) == before)
  }

  @Test func `deleted records give their space back, clearing all of it`() async throws {
    let store = try SQLiteStore(path: path)
    let value = String(repeating: "x", count: 4_000)
    for part in 0..<20 { try await store.write((0..<100).map { Self.put("t/\(part)/\($0)", value) }) }
    let full = try await store.byteCount()
    #expect(full > 8_000_000)
    for part in 0..<15 { try await store.write([.deleteAll(prefix: ByteString("t/\(part)/"))]) }
    #expect(try await store.byteCount() < full / 2)
    #expect(try await store.load(StoreRange(prefix: "")).count == 500)
    try await store.clear()
    #expect(try await store.byteCount() < 50_000)
    #expect(try await store.load(StoreRange(prefix: "")).isEmpty)
    await store.close()
  }

  // MARK: Damage

  /// A login, a draft and a message on its way in front of much that a sync brings again.
  private func fill() async throws {
    let store = try SQLiteStore(path: path)
    try await store.write([
      Self.put("a/schema", "2"), Self.put("a/session", "login"), Self.put("a/outbox/1", "message"),
      Self.put("a/draft/x", "half a"), Self.put("a/sync", "token"), Self.put("e/account", "keys")
    ])
    for part in 0..<10 {
      try await store.write((0..<50).map { Self.put("t/\(part)/\($0)", String(repeating: "event", count: 100)) })
    }
    try await store.rebuild()
    await store.close()
  }

  private func overwrite(at offset: Int, _ bytes: [UInt8]) throws {
    let file = open(path, O_WRONLY)
    try #require(file >= 0)
    defer { close(file) }
    #expect(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
  }

  @Test func `a file that is no database is set aside, and the store begins anew`() async throws {
    try await fill()
    try overwrite(at: 0, [UInt8](repeating: 0x41, count: 4_096))
    let store = try SQLiteStore(path: path)
    #expect(await store.damagedFile == path + "-damaged-1")
    #expect(try await store.load(StoreRange(prefix: "")).isEmpty)
    try await store.write([Self.put("a", "1")])
    await store.close()
    #expect(folder.names.contains("store-damaged-1"))
    let again = try SQLiteStore(path: path)
    #expect(await again.damagedFile == nil)
    #expect(texts(try await again.load(StoreRange(prefix: ""))) == ["a=1"])
    await again.close()
  }

  @Test(arguments: 0..<80) func `damage anywhere neither traps nor stays, and the login is saved where it can be read`(
    seed: UInt64
  ) async throws {
    try await fill()
    var random = StoreConformanceTests.Words(state: seed)
    let size = FileBytes.read(path)?.count ?? 0
    let length = Int(random.next(8_000)) + 1
    let garbage = (0..<length).map { _ in UInt8(random.next(256)) }
    try overwrite(at: Int(random.next(UInt64(size - length))), garbage)

    // One run of a client that meets it at the start, or later, or never.
    let first = try SQLiteStore(path: path)
    let account = (try? await first.load(StoreRange(prefix: "a/"))) ?? []
    for part in 0..<10 { _ = try? await first.load(StoreRange(prefix: ByteString("t/\(part)/"), isDescending: true)) }
    let isStored = (try? await first.write([Self.put("a/sync", "later"), .deleteAll(prefix: "t/3/")])) != nil
    await first.close()

    // The next finds a store that works, and never half of what was written.
    let second = try SQLiteStore(path: path)
    let records = texts(try await second.load(StoreRange(prefix: "")))
    let setAside = [await first.damagedFile, await second.damagedFile]
    if setAside.contains(where: { $0 != nil }) { #expect(!records.contains { $0.hasPrefix("t/") }) }
    if isStored, setAside[1] == nil { #expect(records.contains("a/sync=later")) }
    if texts(account).contains("a/session=login") { #expect(records.contains("a/session=login")) }
    try await second.write([Self.put("z", "1")])
    await second.close()
  }

  @Test func `what a sync does not bring comes along from a damaged file`() async throws {
    try await fill()
    let size = try #require(FileBytes.read(path)?.count)
    // The middle of the file is segments.
    try overwrite(at: size / 2, [UInt8](repeating: 0xFF, count: 40_000))
    let first = try SQLiteStore(path: path)
    #expect(texts(try await first.load(StoreRange(prefix: "a/session"))) == ["a/session=login"])
    // It shows while the client runs: that goes on in memory, for the store is no whole any more.
    await #expect(throws: StoreError.self) { try await first.load(StoreRange(prefix: "t/")) }
    await #expect(throws: StoreError.self) { try await first.write([Self.put("a/sync", "later")]) }
    await first.close()
    let second = try SQLiteStore(path: path)
    #expect(await second.damagedFile == path + "-damaged-1")
    #expect(
      texts(try await second.load(StoreRange(prefix: ""))) == [
        "a/draft/x=half a", "a/outbox/1=message", "a/session=login", "e/account=keys"
      ])
    await second.close()
  }
}
