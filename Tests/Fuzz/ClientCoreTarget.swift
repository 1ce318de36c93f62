import ClientCore
import JSON
import MatrixModel

/// Any bytes as the answer to a sync, and as everything else a server or a store may hand to a client.
func fuzzClientSync(_ bytes: UnsafeRawBufferPointer) {
  let input = Array(bytes)
  for mode in [SyncMode.v3, .sliding] { fuzzClientSync(input, mode) }
}

private func fuzzClientSync(_ input: [UInt8], _ mode: SyncMode) {
  var session = FuzzedClient()
  session.client.sync(by: mode)
  session.handle(.start)
  session.handle(.command(.session(.logIn(user: "me", password: "x")), id: 1))
  session.answer("/login", Array(#"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#.utf8))
  session.answer("/sync?", input)
  for room in session.client.roomIDs.prefix(3) {
    session.handle(.command(.timeline(.openRoom(room)), id: 2))
    session.handle(.command(.timeline(.paginateBack(.live(room))), id: 3))
    session.answer("/messages", input)
    session.handle(.command(.people(.loadMembers(room)), id: 4))
    session.answer("/members", input)
    session.handle(.command(.sending(.send(room, .text("x"))), id: 5))
    session.answer("/send/", input)
    if let last = session.client.room(room)?.timeline.items.last {
      session.handle(.command(.reading(.viewed(room, upTo: last.id)), id: 6))
    }
    focus(room, input, &session)
    for i in 0..<(session.client.room(room)?.timeline.items.count ?? 0) {
      _ = session.client.unreadMemberCount(room, itemAt: i)
    }
  }
  session.answer("/sync?", input)
  session.restart(with: input)
}

/// The bytes as what timelines beside the live one ask for.
private func focus(_ room: RoomID, _ input: [UInt8], _ session: inout FuzzedClient) {
  let event = EventID(trusted: "$1")
  for focus in [TimelineKey.Focus.event(event), .thread(event), .pinned] {
    let key = TimelineKey(room, focus)
    session.handle(.command(.timeline(.open(key)), id: 7))
    for part in ["/context/", "/relations/", "/event/"] { session.answer(part, input) }
    session.handle(.command(.timeline(.paginateBack(key)), id: 8))
    session.handle(.command(.timeline(.paginateForward(key)), id: 9))
    for part in ["/messages", "/messages", "/relations/"] { session.answer(part, input) }
    if let last = session.client.timeline(key)?.items.last {
      session.handle(.command(.timeline(.loadReply(key, last.id)), id: 10))
    }
  }
  session.handle(.command(.timeline(.jumpToDate(room, 0)), id: 11))
  session.answer("/timestamp_to_event", input)
}

private struct FuzzedClient {
  var client = Client(randomSeed: 1, deviceDisplayName: "Fuzz")
  private var waiting: [(RequestID, String)] = []
  private var store: [(ByteString, [UInt8])] = []

  mutating func handle(_ input: Input) {
    var inputs = [input]
    while !inputs.isEmpty {
      for effect in client.handle(inputs.removeFirst(), now: 1_700_000_000_000) {
        switch effect {
        case .request(let id, let request), .upload(let id, let request, _): waiting.append((id, request.target))
        case .cancelRequest(let id): waiting.removeAll { $0.0 == id }
        case .load(let id, let range): inputs.append(.loaded(id, range.select(from: store.map { ($0.0, $0.1) })))
        case .write(let id, let operations):
          for case .put(let key, let value) in operations {
            store.removeAll { $0.0 == key }
            store.append((key, value))
          }
          inputs.append(.written(id, true))
        default: break
        }
      }
    }
  }

  mutating func answer(_ part: String, _ body: [UInt8]) {
    guard let i = waiting.firstIndex(where: { $0.1.contains(part) }) else { return }
    handle(.response(waiting.remove(at: i).0, .answer(status: 200, body: body)))
  }

  /// The store as it is, and once more with the bytes in the place of each record.
  mutating func restart(with bytes: [UInt8]) {
    for key in [
      nil, "a/schema", "a/sync", "a/data/m.direct", "a/room/x", "a/outbox/1", "a/inbox/1", "a/draft/x"
    ] + ofRooms {
      var next = FuzzedClient()
      next.store = store
      if let key { next.store.append((key, bytes)) }
      next.handle(.start)
      for room in next.client.roomIDs.prefix(2) {
        next.handle(.command(.timeline(.openRoom(room)), id: 1))
        next.handle(.command(.timeline(.paginateBack(.live(room))), id: 2))
      }
    }
  }

  /// Keys of records that are read when a room is opened: others of the same rooms, with another end.
  private var ofRooms: [ByteString?] {
    store.prefix(50).compactMap { key, _ in
      key.hasPrefix("t/") || key.hasPrefix("p/") ? ByteString(key.string.dropLast() + "0") : nil
    }
  }
}
