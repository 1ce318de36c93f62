import ClientCore
import JSON
import MatrixModel

/// The words of encrypted rooms' stored messages, in the same store, so that a search need not read all of them: no server can search there.
///
/// It stands behind the store. `follow` sees each batch that the client writes, and adds to it what has to be indexed later; `next` says step by step what the
/// host is to do for that, when it has time. A crash between any two steps loses nothing. A room is indexed from the first search in it on (`begin`): nobody
/// pays for it who does not search.
///
/// A span of the index holds some segments of one room. It is never changed: what is new goes into a new one, and edits, redactions and late keys are
/// documents like others. `RoomSearch` reads the spans.
package struct MessageIndex: Sendable {
  /// What the host is to do for the index.
  package enum Work: Sendable {
    /// Read these timeline records of the room, decrypt what has a key, and give them to `take`.
    case read([StoreRange], RoomID)
    /// A piece of work is done: ask again.
    case goOn
    /// Carry out as one batch, and say the end to `written`.
    case write([StoreOperation])
    case nothing
  }

  /// New segments with which a span of them is made. As many are read by each search.
  static let newSegments = 64
  /// Documents with which a span ends.
  static let spanDocuments = 1_024
  /// Segments the walk reads at a time.
  static let walkSegments = 20
  /// Segments with unreadable events that are read again at a time.
  static let unreadSegments = 64
  /// Segments whose unreadable events are remembered, for each room.
  static let unreadLimit = 2_000

  private(set) var rooms: [RoomID: IndexedRoom] = [:]
  private var job: IndexJob?
  /// Searched last.
  private var preferred: RoomID?
  /// The store does not take what is written.
  package private(set) var isBroken = false

  package init() {}

  /// What is read at the start, before anything else.
  package static let states = StoreRange(prefix: IndexKey.states)

  package mutating func start(_ records: [StoreRecord]) {
    for record in records {
      guard let (room, kind) = IndexKey.stateParts(record.key), kind == UInt8(ascii: "r") else { continue }
      rooms[room] = IndexedRoom(record: record.value)
    }
    for record in records {
      guard let (room, kind) = IndexKey.stateParts(record.key), let position = SegmentPosition(key: record.key) else {
        continue
      }
      if kind == UInt8(ascii: "n") { rooms[room]?.new.insert(position) }
      if kind == UInt8(ascii: "u") { rooms[room]?.unread[position] = Self.places(record.value) }
    }
  }

  // MARK: Rooms

  /// Indexes the room from now on, first of all rooms.
  /// - Returns: what is to be written.
  package mutating func begin(_ room: RoomID) -> [StoreOperation] {
    preferred = room
    guard !isBroken, rooms[room] == nil else { return [] }
    let new = IndexedRoom()
    rooms[room] = new
    return [.put(key: IndexKey.state(of: room), value: new.record)]
  }

  /// Whether all that is stored of the room is indexed, or read by each search.
  package func isWhole(_ room: RoomID) -> Bool { rooms[room]?.walk == .done }

  /// Forgets a room.
  /// - Returns: what is to be written.
  package mutating func forget(_ room: RoomID) -> [StoreOperation] {
    guard rooms.removeValue(forKey: room) != nil else { return [] }
    if job?.room == room { job = nil }
    return IndexKey.prefixes(of: room).map { .deleteAll(prefix: $0) }
  }

  /// Keys have come for events of the room that had none.
  package mutating func keysCame(for room: RoomID) {
    if rooms[room]?.unread.isEmpty == false { rooms[room]?.hasNewKeys = true }
  }

  // MARK: What the client writes

  /// - Parameter operations: of a batch of the client.
  /// - Returns: what goes into the same batch.
  package mutating func follow(_ operations: [StoreOperation]) -> [StoreOperation] {
    guard !rooms.isEmpty else { return [] }
    var added: [StoreOperation] = []
    var emptied: [RoomID: Int64] = [:]
    for operation in operations {
      switch operation {
      case .put(let key, _):
        guard let (room, position) = segment(key) else { continue }
        guard rooms[room]?.isBehind(position) == true || job?.misses(position, in: room) == true else { continue }
        rooms[room]?.new.insert(position)
        added.append(.put(key: IndexKey.new(position, in: room), value: [UInt8(ascii: "1")]))
      case .delete(let key):
        guard let (room, position) = segment(key) else { continue }
        if rooms[room]?.new.remove(position) != nil { added.append(.delete(key: IndexKey.new(position, in: room))) }
        if rooms[room]?.unread.removeValue(forKey: position) != nil {
          added.append(.delete(key: IndexKey.unread(position, in: room)))
        }
        emptied[room] = max(emptied[room] ?? -1, position.block)
      case .deleteAll(let prefix): forgetAll(below: prefix, &added)
      }
    }
    for (room, block) in emptied { dropSpans(of: room, before: block, &added) }
    return added
  }

  private func segment(_ key: ByteString) -> (RoomID, SegmentPosition)? {
    guard key.hasPrefix("t/"), let room = TimelineRecord.room(of: key), rooms[room] != nil,
      let position = SegmentPosition(key: key)
    else { return nil }
    return (room, position)
  }

  private mutating func forgetAll(below prefix: ByteString, _ added: inout [StoreOperation]) {
    if prefix.isEmpty || prefix == "t/" || prefix == "i/" {
      rooms = [:]
      job = nil
      added.append(.deleteAll(prefix: "i/"))
    } else if prefix.hasPrefix("t/") {
      for room in Array(rooms.keys) where TimelineRecord.prefix(of: room) == prefix { added += forget(room) }
    }
  }

  /// The room's oldest segments have been deleted: the last of them was of this block.
  private mutating func dropSpans(of room: RoomID, before block: Int64, _ added: inout [StoreOperation]) {
    guard let state = rooms[room] else { return }
    let old = state.spans.filter { $0.newestBlock < block }
    guard !old.isEmpty else { return }
    for span in old {
      added.append(.delete(key: IndexKey.of(span.number, in: IndexKey.documents(of: room))))
      for bucket in 0..<IndexKey.bucketCount {
        added.append(.delete(key: IndexKey.of(span.number, in: IndexKey.terms(bucket, of: room))))
      }
    }
    rooms[room]?.spans.removeAll { $0.newestBlock < block }
    if let record = rooms[room]?.record { added.append(.put(key: IndexKey.state(of: room), value: record)) }
  }

  // MARK: Work

  /// What is to be done next. Each `read` has to be answered before it is called again, and each `write`.
  package mutating func next() -> Work {
    guard !isBroken, let job = job ?? newJob() else { return .nothing }
    self.job = job
    if job.hasRecords {
      self.job?.addRecord()
      return .goOn
    }
    if let ranges = job.nextRanges {
      self.job?.isWaiting = true
      return .read(ranges, job.room)
    }
    guard job.isEncoded else {
      self.job?.encodeBucket()
      return .goOn
    }
    self.job = nil
    return .write(finish(job))
  }

  /// - Parameter records: of the ranges of the last `read`, in their order.
  package mutating func take(_ records: [StoreRecord]) {
    guard let room = job?.room, job?.isWaiting == true else { return }
    job?.take(records, skipping: rooms[room]?.new ?? [])
  }

  package mutating func written(_ isStored: Bool) {
    guard !isStored else { return }
    isBroken = true
    rooms = [:]
    job = nil
  }

  private mutating func newJob() -> IndexJob? {
    let ordered = (preferred.map { [$0] } ?? []) + rooms.keys.ordered()
    for id in ordered {
      guard let room = rooms[id] else { continue }
      if room.new.count >= Self.newSegments { return IndexJob(id, .new(Self.first(room.new, Self.newSegments))) }
      if room.hasNewKeys {
        rooms[id]?.hasNewKeys = false
        return IndexJob(id, .unread(Self.newest(room.unread, Self.unreadSegments)))
      }
    }
    for id in ordered {
      if case .before(let position)? = rooms[id]?.walk { return IndexJob(id, .walk(position)) }
    }
    return nil
  }

  private mutating func finish(_ job: IndexJob) -> [StoreOperation] {
    let id = job.room
    guard var room = rooms[id] else { return [] }
    var operations: [StoreOperation] = []
    if !job.span.isEmpty {
      operations += job.records(as: room.nextSpan)
      let newest = job.span.documents.positions.map { $0.block }.max() ?? 0
      room.spans.append(IndexedRoom.Span(number: room.nextSpan, newestBlock: newest))
      room.nextSpan += 1
    }
    switch job.kind {
    case .walk(let end): room.walk = job.isAtEnd ? .done : .before(end)
    case .new(let positions):
      for position in positions {
        room.new.remove(position)
        operations.append(.delete(key: IndexKey.new(position, in: id)))
      }
    case .unread: break
    }
    for (position, places) in job.unread
    where !places.isEmpty && (room.unread[position] != nil || room.unread.count < Self.unreadLimit) {
      room.unread[position] = places
      operations.append(.put(key: IndexKey.unread(position, in: id), value: Self.bytes(places)))
    }
    for position in job.readSegments where job.unread[position]?.isEmpty ?? true {
      if room.unread.removeValue(forKey: position) != nil {
        operations.append(.delete(key: IndexKey.unread(position, in: id)))
      }
    }
    rooms[id] = room
    return operations + [.put(key: IndexKey.state(of: id), value: room.record)]
  }
}

extension MessageIndex {
  /// What has to be read beside the spans.
  func unindexed(_ room: RoomID) -> (new: [SegmentPosition], unread: [SegmentPosition: [Int]]) {
    guard let state = rooms[room] else { return ([], [:]) }
    return (Array(state.new), Self.newest(state.unread, Self.unreadSegments))
  }

  private static func first(_ positions: Set<SegmentPosition>, _ count: Int) -> [SegmentPosition] {
    Array(positions.ordered().prefix(count))
  }

  private static func newest(_ unread: [SegmentPosition: [Int]], _ count: Int) -> [SegmentPosition: [Int]] {
    var newest: [SegmentPosition: [Int]] = [:]
    for position in unread.keys.ordered(by: { $1 < $0 }).prefix(count) { newest[position] = unread[position] }
    return newest
  }

  private static func bytes(_ places: [Int]) -> [UInt8] {
    var bytes = [SpanDocuments.version]
    for place in places { bytes.append(number: place) }
    return bytes
  }

  private static func places(_ record: [UInt8]) -> [Int] {
    var reader = IndexReader(record)
    guard reader.bytes(1)?.first == SpanDocuments.version else { return [] }
    var places: [Int] = []
    while let place = reader.number() { places.append(place) }
    return places
  }
}
