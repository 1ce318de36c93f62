import ClientCore
import JSON
import MatrixModel
import SearchIndex
import WebHost

/// The index of stored messages in the page (`MessageIndex`), and searches in it. It works in slices, so that the page can draw in between.
package final class PageSearch {
  private static let sliceMilliseconds = 4.0

  /// Replaced in tests, as are the next: reads the store, decrypts timeline records as far as there are keys, writes behind what was written before.
  package var read: (StoreRange, @escaping ([StoreRecord]) -> Void) -> Void = { _, then in then([]) }
  package var decrypt: ([StoreRecord], RoomID, @escaping ([StoreRecord]) -> Void) -> Void = { records, _, then in then(records)
  }
  package var write: ([StoreOperation], @escaping (Bool) -> Void) -> Void = { _, then in then(false) }
  /// Lets the page do what waits.
  package var pause: (@escaping () -> Void) -> Void = { Host.after(milliseconds: 0, $0) }

  private(set) var index = MessageIndex()
  private var isWorking = false
  private var isStopped = false
  /// Searches that wait until more is indexed.
  private var waiting: [() -> Void] = []

  package init() {}

  /// Reads how far the index is. Before the client writes anything.
  package func start(_ then: @escaping () -> Void) {
    read(MessageIndex.states) { [self] records in
      index.start(records)
      then()
    }
  }

  package func stop() {
    isStopped = true
    waiting = []
  }

  /// - Parameter operations: that the client writes.
  /// - Returns: what goes into the same batch.
  package func follow(_ operations: [StoreOperation]) -> [StoreOperation] {
    let added = index.follow(operations)
    if !added.isEmpty { work() }
    return added
  }

  /// Keys came for messages of the room.
  package func keysCame(for room: RoomID) {
    index.keysCame(for: room)
    work()
  }

  /// The user has left the room.
  package func forget(_ room: RoomID) { put(index.forget(room)) }

  /// Looks for messages of the room that have all these words. The room is indexed from now on.
  package func find(_ words: ByteString, in room: RoomID, pageMessages: Int = 20) -> StoredMessageFinder {
    put(index.begin(room))
    keysCame(for: room)
    return StoredMessageFinder(self, RoomSearch(words, in: room, pageMessages: pageMessages), room)
  }

  private func put(_ operations: [StoreOperation]) {
    if !operations.isEmpty { write(operations) { [self] in if !$0 { index.written(false) } } }
  }

  // MARK: Work

  /// Goes on with what an earlier page has begun, too.
  package func work() {
    guard !isWorking, !isStopped else { return }
    isWorking = true
    pause { [self] in slice() }
  }

  private func slice() {
    let start = Host.monotonicMilliseconds()
    while !isStopped {
      switch index.next() {
      case .nothing: return end()
      case .goOn:
        if Host.monotonicMilliseconds() - start > Self.sliceMilliseconds { return pause { [self] in slice() } }
      case .read(let ranges, let room):
        return readAll(ranges, of: room) { [self] records in
          index.take(records.flatMap { $0 })
          pause { [self] in slice() }
        }
      case .write(let operations):
        return write(operations) { [self] isStored in
          index.written(isStored)
          tell()
          pause { [self] in slice() }
        }
      }
    }
    isWorking = false
  }

  private func end() {
    isWorking = false
    tell()
  }

  private func tell() {
    let waiting = waiting
    self.waiting = []
    for then in waiting { then() }
  }

  func afterWork(_ then: @escaping () -> Void) {
    waiting.append(then)
    work()
  }

  // MARK: The store

  /// Each range by itself; records of timelines decrypted.
  func readAll(_ ranges: [StoreRange], of room: RoomID, _ then: @escaping ([[StoreRecord]]) -> Void) {
    var lists = Array(repeating: [StoreRecord](), count: ranges.count)
    var left = ranges.count
    guard left > 0 else { return then([]) }
    for (place, range) in ranges.enumerated() {
      read(range) { [self] records in
        lists[place] = records
        left -= 1
        if left == 0, !isStopped { decryptAll(lists, of: room, then) }
      }
    }
  }

  private func decryptAll(_ lists: [[StoreRecord]], of room: RoomID, _ then: @escaping ([[StoreRecord]]) -> Void) {
    let places = lists.indices.filter { lists[$0].first.map { TimelineRecord.room(of: $0.key) != nil } ?? false }
    guard !places.isEmpty else { return then(lists) }
    decrypt(places.flatMap { lists[$0] }, room) { clear in
      var lists = lists
      var rest = clear[...]
      for place in places {
        lists[place] = Array(rest.prefix(lists[place].count))
        rest = rest.dropFirst(lists[place].count)
      }
      then(lists)
    }
  }
}
