import ClientCore
import Glibc
import JSON
import MatrixClient
import MatrixModel

/// `rooms` rooms of `events` events each, as syncs bring them: 20 at a time.
func fillStore(_ path: String, rooms: Int, events: Int) async throws {
  let store = try SQLiteStore(path: path + ".part")
  var driver = try await Driver.signedIn(store: store)
  var batch = 0
  for first in stride(from: 0, to: events, by: 20) {
    for start in stride(from: 0, to: rooms, by: 500) {
      batch += 1
      var answer = SyncAnswer(nextBatch: "s\(batch)")
      for room in start..<min(start + 500, rooms) {
        answer.add(room: room, first: first, events: 20, hasState: first == 0)
      }
      try await driver.answer("/sync?", answer.bytes)
    }
  }
  await store.close()
  for suffix in ["", "-owner", "-write"] { rename(path + ".part" + suffix, path + suffix) }
}

/// A start with a full store, opening rooms, and paging back in them.
func measureStore(_ path: String) async throws {
  let base = residentMegabytes()
  let watch = Watch()
  let store = try SQLiteStore(path: path)
  var driver = Driver(store: store)
  try await driver.handle(.start)
  let opened = (wall: watch.wallMilliseconds, processor: watch.processorMilliseconds, memory: residentMegabytes())
  let megabytes = Double(try await store.byteCount()) / 1e6
  let ids = driver.client.roomIDs

  var openings = 0.0
  var pagings = 0.0
  let count = min(50, ids.count)
  for id in ids.prefix(count) {
    let opening = Watch()
    try await driver.handle(.command(.timeline(.openRoom(id)), id: 2))
    openings += opening.wallMilliseconds
    let before = driver.client.room(id)?.timeline.items.count ?? 0
    let paging = Watch()
    while (driver.client.room(id)?.timeline.items.count ?? 0) < before + 100 {
      let items = driver.client.room(id)?.timeline.items.count ?? 0
      try await driver.handle(.command(.timeline(.paginateBack(.live(id))), id: 3))
      if driver.client.room(id)?.timeline.items.count == items { break }
    }
    let items = Double((driver.client.room(id)?.timeline.items.count ?? 0) - before)
    pagings += paging.wallMilliseconds * 100 / max(items, 1)
    try await driver.handle(.command(.timeline(.closeRoom(id)), id: 4))
  }
  report("store-open", "store of \(ids.count) rooms, opened", opened.wall, "ms")
  report("store-open-cpu", "… processor", opened.processor, "ms")
  report("store-size", "… on disk", megabytes, "MB")
  report("store-memory", "… resident, program included", opened.memory, "MB")
  report("program-memory", "… resident before it", base, "MB")
  report("rooms-memory", "… resident after \(count) rooms were opened and paged", residentMegabytes(), "MB")
  report("room-open", "a room opened", openings / Double(count), "ms")
  report("page", "100 stored events paged", pagings / Double(count), "ms")
  await store.close()
}
