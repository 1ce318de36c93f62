#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import MatrixClient

/// An account that syncs into a file until it is killed: `client-live --follow FILE --homeserver URL --user NAME --password TEXT [--sync v3|sliding]`.
///
/// Says `up` once it has synced. Meanwhile it opens rooms, pages back and fills gaps. Ends with 3 where an event stands twice in a timeline.
///
/// With `--settle TEXT` it ends: once every joined room ends with that message, nothing is missing and all are read from their beginnings, with
/// one line for each message, `ROOM EVENT`, oldest first. With `--offline` as well it asks no server, and tells what the file has.
struct Follower {
  let client: MatrixClient
  let isOffline: Bool
  let last: String?

  static func run(
    _ path: String, on homeserver: String, user: String, password: String, syncMode: SyncMode, settle last: String?,
    isOffline: Bool
  ) async throws {
    let client = try await MatrixClient(
      homeserver: isOffline ? "http://127.0.0.1:1" : homeserver, store: try SQLiteStore(path: path), syncMode: syncMode)
    let follower = Follower(client: client, isOffline: isOffline, last: last)
    let check = Task { await follower.check() }
    if case .signedOut = await client.sessionState {
      try await client.perform(.session(.logIn(user: ByteString(user), password: ByteString(password))))
    }
    if !isOffline {
      // A server that just starts is there a little later.
      while (try? await client.waitForSync()) == nil { try await Task.sleep(for: .milliseconds(50)) }
      say("up")
    }
    if last != nil { try await follower.settle() } else { try await follower.wander() }
    check.cancel()
    await client.stop()
  }

  /// Does what people do, in no order, for ever.
  private func wander() async throws {
    while true {
      guard let id = await client.rooms.filter({ $0.membership == .join }).randomElement()?.id else {
        try await Task.sleep(for: .milliseconds(10))
        continue
      }
      _ = try? await client.perform(.timeline(.openRoom(id)))
      switch Int.random(in: 0..<4) {
      case 0: _ = try? await client.perform(.timeline(.paginateBack(.live(id))))
      case 1: _ = try? await client.room(id).fillGaps()
      case 2: _ = try? await client.perform(.timeline(.closeRoom(id)))
      default: break
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func check() async {
    for await change in await client.changes() {
      guard case .timeline(let key, _) = change else { continue }
      let events = await client.state(of: key.room)?.timeline.items.compactMap(\.eventID) ?? []
      if Set(events).count < events.count { end("\(key.room) shows an event twice", status: 3) }
    }
  }

  private func settle() async throws {
    for id in await client.rooms.filter({ $0.membership == .join }).map(\.id) {
      let room = client.room(id)
      try await client.perform(.timeline(.openRoom(id)))
      if let last, !isOffline { _ = try await room.item(saying: last) }
      try await room.until("the timeline") { $0.timeline.loadState == .loaded }
      var isAtStart = false
      while !isAtStart {
        if !isOffline { try await room.fillGaps() }
        _ = try? await client.perform(.timeline(.paginateBack(.live(id))))
        let state = try unwrap(await room.state, "room").timeline.backState
        // What is not in the file cannot come.
        isAtStart = state == .atStart || isOffline && state == .failed
      }
      if !isOffline { try await room.fillGaps() }
      for item in try unwrap(await room.state, "room").timeline.items where item.text != nil {
        say("\(id) \(try unwrap(item.eventID, "event ID"))")
      }
      try await client.perform(.timeline(.closeRoom(id)))
    }
  }
}
