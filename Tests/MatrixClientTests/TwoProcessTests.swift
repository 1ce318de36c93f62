import Glibc
import JSON
import MatrixModel
import Testing

@testable import MatrixClient

/// The processes are this program once more, started with a role in the environment.
@Suite struct TwoProcessTests {
  @Test(.timeLimit(.minutes(2))) func `two processes never corrupt the store, even if either is killed at any time`()
    async throws
  {
    if let role = OtherProcess.environment("MARTLET_STORE_ROLE"), let path = OtherProcess.environment("MARTLET_STORE_PATH") {
      return try await play(role, path)
    }
    let folder = TemporaryFolder()
    let path = folder.path + "/store"
    let setUp = try SQLiteStore(path: path)
    await setUp.close()
    let guests = (1...2).map { start("guest\($0)", path) }
    var acknowledged = 0
    for _ in 0..<8 {
      let owner = start("owner", path)
      // Killed in the middle of some write, with some checkpoints behind it.
      let before = lines(of: path + ".owner").count
      while lines(of: path + ".owner").count < before + 150 { usleep(2_000) }
      owner.kill()
      #expect(owner.wait() == SIGKILL)
      acknowledged = lines(of: path + ".owner").compactMap { Int($0) }.max() ?? 0
    }
    for guest in guests { #expect(guest.wait() == 0) }
    try await check(path, acknowledged: acknowledged)
  }

  private func check(_ path: String, acknowledged: Int) async throws {
    let store = try SQLiteStore(path: path)
    #expect(await store.damagedFile == nil)
    let records = texts(try await store.load(StoreRange(prefix: "")))
    let numbers = records.filter { $0.hasPrefix("n/") }.map { $0.split(separator: "=")[1] }
    #expect(numbers.count == 3 && Set(numbers).count == 1, "a batch is there in part: \(numbers)")
    #expect(numbers.first.flatMap { Int($0) } ?? 0 >= acknowledged)
    // Each message that was handed over waits or was taken, once.
    var sent: [String] = []
    for guest in 1...2 { sent += lines(of: "\(path).guest\(guest)") }
    #expect(sent.count == 200)
    let kept = records.filter { $0.hasPrefix("a/inbox/") || $0.hasPrefix("a/outbox/") }
    for text in sent { #expect(kept.count { $0.contains("\"\(text)\"") } == 1, "\(text)") }
    #expect(try await store.check() == "ok")
    await store.close()
  }

  private func start(_ role: String, _ path: String) -> OtherProcess {
    OtherProcess("TwoProcessTests", ["MARTLET_STORE_ROLE": role, "MARTLET_STORE_PATH": path])
  }

  // MARK: Roles

  private func play(_ role: String, _ path: String) async throws {
    if role == "owner" { try await own(path) } else { try await visit(role, path) }
  }

  /// Writes for ever, each batch three records of one number, and takes over what waits in the inbox.
  private func own(_ path: String) async throws {
    let store = try SQLiteStore(path: path)
    let stored = try await store.load(StoreRange(prefix: "n/0")).first
    var number = stored.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
    while true {
      number += 1
      var operations: [StoreOperation] = (0..<3).map {
        .put(key: ByteString("n/\($0)"), value: Array("\(number)".utf8))
      }
      operations.append(.put(key: ByteString("t/\(number % 500)"), value: [UInt8](repeating: 0x20, count: 3_000)))
      for record in try await store.load(StoreRange(prefix: "a/inbox/", limit: 5)) {
        operations.append(.put(key: ByteString("a/outbox/" + record.key.string.dropFirst(8)), value: record.value))
        operations.append(.delete(key: record.key))
      }
      try await store.write(operations)
      append("\(number)\n", to: path + ".owner")
    }
  }

  private func visit(_ role: String, _ path: String) async throws {
    let guest = try SQLiteStore(path: path, isOwner: false, key: .file)
    for number in 0..<100 {
      let text = "\(role)-\(number)"
      let operation = try #require(
        Inbox.put(ByteString(text), to: RoomID(trusted: "!r:test"), now: Int64(number), randomSeed: .random(in: 0 ... .max)))
      try await guest.write([operation])
      append(text + "\n", to: "\(path).\(role)")
      let seen = texts(try await guest.load(StoreRange(prefix: "n/"))).map { $0.split(separator: "=")[1] }
      #expect(Set(seen).count <= 1, "a batch is there in part")
    }
  }

  // MARK: Files

  private func append(_ text: String, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    _ = write(file, text, text.utf8.count)
    close(file)
  }

  private func lines(of path: String) -> [String] {
    String(decoding: FileBytes.read(path) ?? [], as: UTF8.self).split(separator: "\n").map { String($0) }
  }
}
