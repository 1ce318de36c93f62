import ClientCore
import Glibc
import JSON
import MatrixClient
import MatrixModel

/// A first sync of 5 MB, and in how many rooms.
func firstSyncAnswer() -> (body: [UInt8], rooms: Int) {
  var answer = SyncAnswer(nextBatch: "s1")
  var room = 0
  while answer.byteCount < 5_000_000 {
    answer.add(room: room, first: 0, events: 20, hasState: true)
    room += 1
  }
  return (answer.bytes, room)
}

/// A sync with one message in a room of `firstSyncAnswer`.
func incrementalAnswer(_ number: Int, in room: Int) -> [UInt8] {
  var answer = SyncAnswer(nextBatch: "n\(number)")
  answer.add(room: room, first: 5_000_000 + number * 7, events: 1, hasState: false)
  return answer.bytes
}

/// The answers that are measured here, for other clients to read: `first.json`, and `incremental.jsonl` with one a line.
func recordAnswers(in folder: String) throws {
  try write(firstSyncAnswer().body, to: folder + "/first.json")
  let lines = (0..<2_000).map { incrementalAnswer($0, in: 1 + $0 * 7 % 500) }
  try write(Array(lines.joined(separator: [UInt8(ascii: "\n")])), to: folder + "/incremental.jsonl")
}

private func write(_ bytes: [UInt8], to path: String) throws {
  guard let file = fopen(path, "w") else { throw Failure(text: "cannot write \(path)") }
  defer { fclose(file) }
  guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(text: "\(path): it took only a part") }
}

struct Failure: Error { let text: String }

/// A first sync: read, prepared and shown; then what the store needs for the batch.
func measureFirstSync() async throws {
  let (body, room) = firstSyncAnswer()
  var best = (core: Double.infinity, store: Double.infinity)
  for _ in 0..<5 {
    var driver = try await Driver.signedIn(store: nil)
    guard let input = driver.response("/sync?", body) else { return }
    var batch: [StoreOperation] = []
    let watch = Watch()
    for case .write(let id, let operations) in driver.step(input) {
      batch = operations
      _ = driver.step(.written(id, true))
    }
    best.core = min(best.core, watch.processorMilliseconds)
    guard driver.client.roomIDs.count == room else { return print("first sync: not taken") }
    best.store = min(best.store, try await storeMilliseconds(batch))
  }
  report("first-sync", "first sync of \(body.count / 1_000_000) MB, \(room) rooms, processor", best.core, "ms")
  report("first-sync-store", "… SQLite", best.store, "ms")
}

private func storeMilliseconds(_ operations: [StoreOperation]) async throws -> Double {
  let path = "/tmp/martlet-client-first-\(getpid()).sqlite"
  defer { for suffix in ["", "-wal", "-shm", "-owner", "-write"] { unlink(path + suffix) } }
  let store = try SQLiteStore(path: path)
  let watch = Watch()
  try await store.write(operations)
  defer { Task { await store.close() } }
  return watch.processorMilliseconds
}

/// Syncs with one message each, in a client that has the full store open but writes nothing.
func measureIncrementalSync(_ path: String) async throws {
  let store = try SQLiteStore(path: path)
  var driver = Driver(store: store)
  try await driver.handle(.start)
  let ids = driver.client.roomIDs
  try await driver.handle(.command(.timeline(.openRoom(ids[0])), id: 2))
  for (name, isOpen) in [("in a closed room", false), ("in an open room", true)] {
    var milliseconds = 0.0
    var bytes = 0
    let count = 2_000
    for number in 0..<count {
      let room = isOpen ? ids[0] : ids[1 + number * 7 % (ids.count - 1)]
      let index = Int(room.string.dropFirst(5).prefix { $0.isNumber }) ?? 0
      let body = incrementalAnswer(number, in: index)
      bytes = body.count
      guard let input = driver.response("/sync?", body) else { return print("incremental sync: no request") }
      let watch = Watch()
      for case .write(let id, _) in driver.step(input) {
        for case .load(let load, _) in driver.step(.written(id, true)) { _ = driver.step(.loaded(load, [])) }
      }
      milliseconds += watch.processorMilliseconds
    }
    report(
      isOpen ? "incremental-open" : "incremental", "incremental sync of \(bytes) bytes, \(name), processor",
      milliseconds / Double(count), "ms")
  }
  await store.close()
}
