import CSQLite
import Glibc
import JSON
import Testing

@testable import MatrixClient

/// What lies on the disk is sealed.
@Suite struct SealedStoreTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.path + "/store" }

  private static func secret(_ number: Int) -> String { #"{"body":"the secret number \#(number)"}"# }

  private func fill(_ numbers: Range<Int>) -> [StoreOperation] {
    numbers.map { SQLiteStoreTests.put("t/\(1_000 + $0)", Self.secret($0)) }
  }

  private func values(_ key: StoreKeySource = .file) async throws -> [String] {
    let store = try SQLiteStore(path: path, key: key)
    let records = try await store.load(StoreRange(prefix: "t/"))
    await store.close()
    return records.map { String(decoding: $0.value, as: UTF8.self) }
  }

  /// Whether any file of the folder has the words.
  private func isOnDisk(_ words: String) -> Bool {
    let wanted = Array(words.utf8)
    return folder.names.contains { name in
      let bytes = FileBytes.read(folder.path + "/" + name) ?? []
      return bytes.indices.contains { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
    }
  }

  /// As another program would: the file must not be open.
  private func execute(_ sql: String) throws {
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    defer { sqlite3_close(handle) }
    #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
  }

  // Proves E12
  @Test func `no file has what was written, neither before nor after the store is closed`() async throws {
    let store = try SQLiteStore(path: path)
    try await store.write(fill(0..<50))
    #expect(!isOnDisk("the secret number"))
    try await store.write([SQLiteStoreTests.put("t/1000", Self.secret(99)), .delete(key: "t/1001")])
    await store.close()
    #expect(!isOnDisk("the secret number") && isOnDisk("t/1002"), "keys are as they are")
    #expect(try await values().count == 49)
  }

  @Test func `a store of an earlier version is sealed when it is opened, also where that was ended before`() async throws {
    func plain(_ numbers: Range<Int>) -> String {
      numbers.map {
        "INSERT INTO records(key, value) VALUES(CAST('t/\(1_000 + $0)' AS BLOB), CAST('\(Self.secret($0))' AS BLOB))"
      }
      .joined(separator: ";")
    }
    try execute("CREATE TABLE records(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)")
    try execute("BEGIN;" + plain(0..<500) + ";COMMIT; PRAGMA user_version=1")
    #expect(isOnDisk("the secret number"))
    #expect(try await values() == (0..<500).map(Self.secret))
    #expect(!isOnDisk("the secret number"))
    // As if it had been ended after those.
    try execute("UPDATE sealing SET last = (SELECT max(id) FROM records)")
    try execute("BEGIN;" + plain(500..<600) + ";COMMIT")
    #expect(try await values() == (0..<600).map(Self.secret))
    #expect(!isOnDisk("the secret number"))
  }

  @Test func `a value under another's key, a changed one, and one in clear text are damage`() async throws {
    for change in [
      "UPDATE records SET value = (SELECT value FROM records WHERE key = CAST('t/1001' AS BLOB)) WHERE key = CAST('t/1000' AS BLOB)",
      "UPDATE records SET value = CAST('{}' AS BLOB) WHERE key = CAST('t/1000' AS BLOB)",
      "UPDATE records SET value = substr(value, 1, length(value) - 1) || x'00' WHERE key = CAST('t/1000' AS BLOB)"
    ] {
      let store = try SQLiteStore(path: path)
      try await store.write(fill(0..<2))
      await store.close()
      try execute(change)
      let again = try SQLiteStore(path: path)
      #expect(try await again.load(StoreRange(prefix: "t/")).isEmpty, "\(change)")
      #expect(await again.damagedFile != nil)
      await again.close()
    }
  }

  @Test func `without its key a store stays as it is`() async throws {
    let store = try SQLiteStore(path: path)
    try await store.write(fill(0..<2))
    await store.close()
    let before = FileBytes.read(path)
    try #require(rename(path + "-key", folder.path + "/kept") == 0)
    for key in [StoreKeySource.file, .bytes([UInt8](repeating: 7, count: 32)), .bytes([])] {
      #expect { try SQLiteStore(path: path, key: key) } throws: { if case StoreError.wrongKey = $0 { true } else { false } }
    }
    #expect(FileBytes.read(path) == before && !folder.names.contains("store-key"))
    try #require(rename(folder.path + "/kept", path + "-key") == 0)
    #expect(try await values() == [Self.secret(0), Self.secret(1)])
  }

  // The key is derived twice, half a second each on a quiet machine.
  @Test func `a passphrase opens what it has sealed, and another does not`() async throws {
    let store = try SQLiteStore(path: path, key: .passphrase("correct horse"))
    try await store.write(fill(0..<1))
    await store.close()
    #expect { try SQLiteStore(path: path, key: .passphrase("battery")) } throws: {
      if case StoreError.wrongKey = $0 { true } else { false }
    }
    #expect(try await values(.passphrase("correct horse")) == [Self.secret(0)])
  }

  @Test func `a guest reads with the owner's key`() async throws {
    let store = try SQLiteStore(path: path)
    try await store.write(fill(0..<1))
    let guest = try SQLiteStore(path: path, isOwner: false, key: .file)
    #expect(texts(try await guest.load(StoreRange(prefix: "t/"))) == ["t/1000=" + Self.secret(0)])
    await guest.close()
    await store.close()
  }
}
