import ClientCore
import Glibc
import JSON
import MatrixClient
import MatrixModel

/// A first sync of 5 MB: read, prepared and shown; then what the store needs for the batch.
func measureFirstSync() async throws {
  var answer = SyncAnswer(nextBatch: "s1")
  var room = 0
  while answer.byteCount < 5_000_000 {
    answer.add(room: room, first: 0, events: 20, hasState: true)
    room += 1
  }
  let body = answer.bytes
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
  print(
    "first sync of \(short(Double(body.count) / 1e6)) MB, \(room) rooms: processor \(short(best.core)) ms, SQLite \(short(best.store)) ms"
  )
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
  try await driver.handle(.command(.openRoom(ids[0]), id: 2))
  var figures: [String] = []
  for (name, isOpen) in [("in a closed room", false), ("in an open room", true)] {
    var milliseconds = 0.0
    var bytes = 0
    let count = 2_000
    for number in 0..<count {
      let room = isOpen ? ids[0] : ids[1 + number * 7 % (ids.count - 1)]
      let index = Int(room.string.dropFirst(5).prefix { $0.isNumber }) ?? 0
      var answer = SyncAnswer(nextBatch: "n\(number)")
      answer.add(room: index, first: 5_000_000 + number * 7, events: 1, hasState: false)
      let body = answer.bytes
      bytes = body.count
      guard let input = driver.response("/sync?", body) else { return print("incremental sync: no request") }
      let watch = Watch()
      for case .write(let id, _) in driver.step(input) {
        for case .load(let load, _) in driver.step(.written(id, true)) { _ = driver.step(.loaded(load, [])) }
      }
      milliseconds += watch.processorMilliseconds
    }
    figures.append("\(name) \(short(milliseconds / Double(count) * 1e3)) us (\(bytes) bytes)")
  }
  print("incremental sync: processor " + figures.joined(separator: ", "))
  await store.close()
}
