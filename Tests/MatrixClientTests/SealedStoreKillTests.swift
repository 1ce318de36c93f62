import CSQLite
import ClientCore
import Glibc
import JSON
import Testing

@testable import MatrixClient

/// A process seals a store of an earlier version, writes it anew and then writes batches, and is killed at each write in turn. The process is this
/// program once more (`OtherProcess`).
///
/// `./test` tries twelve writes, others each time; `MARTLET_LONG=1` goes through all of them.
@Suite struct SealedStoreKillTests {
  private static let isLong = OtherProcess.environment("MARTLET_LONG") == "1"
  private static let kills = 12
  private static let old = 450, batches = 12

  private let folder = TemporaryFolder()
  private var path: String { folder.path + "/store" }

  // Proves E12
  @Test(.timeLimit(.minutes(20)))
  func `a kill at any write leaves whole batches and no clear text, and sealing goes on`() async throws {
    if let path = OtherProcess.environment("MARTLET_SEALED_PATH") {
      let number = OtherProcess.environment("MARTLET_SEALED_KILL").flatMap { Int($0) } ?? .max
      return try await play(path, dyingAt: number)
    }
    try makeOldStore()
    // To its end, to know how many writes there are.
    #expect(run(dyingAt: .max) == 0)
    let writes = try #require(lines("count").first.flatMap { Int($0) })
    try #require(writes > 4 * Self.kills)
    try await check(isWhole: true)
    let step = Self.isLong ? 1 : writes / Self.kills
    let first = Self.isLong ? 1 : Int.random(in: 1...step)
    for number in stride(from: first, through: writes, by: step) {
      try makeOldStore()
      #expect(run(dyingAt: number) == SIGKILL, "write \(number) of \(writes)")
      try await check("after a kill at write \(number) of \(writes)")
    }
  }

  // MARK: The other process

  private func run(dyingAt number: Int) -> Int32 {
    OtherProcess("SealedStoreKillTests", ["MARTLET_SEALED_PATH": path, "MARTLET_SEALED_KILL": "\(number)"]).wait()
  }

  /// Each batch replaces three records by a number, adds a large one and deletes an older.
  private func play(_ path: String, dyingAt number: Int) async throws {
    DeadlyWrites.arm(at: number)
    let store = try SQLiteStore(path: path)
    for batch in 1...Self.batches {
      var operations: [StoreOperation] = (0..<3).map { SQLiteStoreTests.put("n/\($0)", Self.secret(batch)) }
      let long = String(repeating: Self.secret(batch), count: 200)
      operations.append(SQLiteStoreTests.put("t/\(2_000 + batch)", "\"\(long.filter { $0 != "\"" })\""))
      operations.append(.delete(key: ByteString("t/\(1_000 + batch)")))
      try await store.write(operations)
      append("\(batch)\n", "acknowledged")
    }
    await store.close()
    append("\(DeadlyWrites.count)\n", "count")
  }

  // MARK: What is left

  private static func secret(_ number: Int) -> String { #"{"body":"the secret number \#(number)"}"# }

  /// With clear text in its rows and in pages that are free.
  private func makeOldStore() throws {
    for name in folder.names { unlink(folder.path + "/" + name) }
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    func execute(_ sql: String) { #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql.prefix(200))") }
    execute("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA secure_delete=OFF; PRAGMA journal_mode=WAL")
    execute("CREATE TABLE records(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)")
    let rows = (0..<2 * Self.old).map { "(CAST('t/\(1_000 + $0)' AS BLOB), CAST('\(Self.secret($0))' AS BLOB))" }
    execute("INSERT INTO records(key, value) VALUES\(rows.joined(separator: ","))")
    execute("DELETE FROM records WHERE key >= CAST('t/\(1_000 + Self.old)' AS BLOB); PRAGMA user_version=1")
    sqlite3_close(handle)
    #expect(FileBytes.read(path).map { contains($0, "the secret number \(2 * Self.old - 1)") } == true, "in a free page")
  }

  private func check(isWhole: Bool = false, _ when: Comment = "") async throws {
    let store = try SQLiteStore(path: path)
    #expect(await store.damagedFile == nil, when)
    #expect(try await store.check() == "ok", when)
    #expect(clearFiles().isEmpty, when)
    let numbers = try await store.load(StoreRange(prefix: "n/")).map { String(decoding: $0.value, as: UTF8.self) }
    let batch = (0...Self.batches).last { numbers == [String](repeating: Self.secret($0), count: 3) } ?? 0
    #expect(batch > 0 || numbers.isEmpty, "a batch is there in part: \(numbers), \(when)")
    #expect(batch >= lines("acknowledged").compactMap { Int($0) }.max() ?? 0, when)
    #expect(!isWhole || batch == Self.batches)
    let keys = try await store.load(StoreRange(prefix: "t/")).map(\.key.string)
    let expected =
      (0..<Self.old).map { "t/\(1_000 + $0)" }.filter { key in
        !(1...Self.batches).contains { $0 <= batch && key == "t/\(1_000 + $0)" }
      }
      + (0..<batch).map { "t/\(2_001 + $0)" }
    #expect(keys == expected, when)
    // It goes on from there.
    try await store.write([SQLiteStoreTests.put("n/0", Self.secret(0))])
    await store.close()
    #expect(clearFiles().isEmpty, when)
  }

  /// Files with something of what was written, or with the key of the seal besides its own file.
  private func clearFiles() -> [String] {
    let key = FileBytes.read(path + "-key") ?? []
    return folder.names.filter { name in
      let bytes = FileBytes.read(folder.path + "/" + name) ?? []
      if name.hasPrefix("store-key") { return false }
      return contains(bytes, "the secret number") || key.isEmpty || contains(bytes, key)
    }.filter { $0.hasPrefix("store") }
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool { contains(bytes, Array(text.utf8)) }

  private func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var place = 0
      while bytes.count - place >= wanted.count, let start = bytes.baseAddress {
        guard let found = memchr(start + place, Int32(wanted[0]), bytes.count - place - wanted.count + 1) else { return false }
        if memcmp(found, wanted, wanted.count) == 0 { return true }
        place = start.distance(to: found) + 1
      }
      return false
    }
  }

  // MARK: Notes of the other process

  private func append(_ text: String, _ name: String) {
    let path = (OtherProcess.environment("MARTLET_SEALED_PATH") ?? "") + "." + name
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    _ = write(file, text, text.utf8.count)
    close(file)
  }

  private func lines(_ name: String) -> [String] {
    String(decoding: FileBytes.read("\(path).\(name)") ?? [], as: UTF8.self).split(separator: "\n").map { String($0) }
  }
}
