import ClientCore
import JSON
import MatrixModel
import SearchIndex

/// Finds messages of a room in the store, page by page, the newest first.
package final class StoredMessageFinder {
  package let room: RoomID
  private let host: PageSearch
  private var search: RoomSearch
  package private(set) var isAtEnd = false

  init(_ host: PageSearch, _ search: RoomSearch, _ room: RoomID) {
    self.host = host
    self.search = search
    self.room = room
  }

  /// - Parameter then: gets the next messages; none at the end. Only once for each call, and not before it returns where the store is read.
  package func next(_ then: @escaping ([StoredMatch]) -> Void) {
    switch search.next(host.index) {
    case .read(let ranges):
      host.readAll(ranges, of: room) { [self] records in
        search.take(records)
        next(then)
      }
    case .found(let matches): then(matches)
    case .index: host.afterWork { [self] in next(then) }
    case .end:
      isAtEnd = true
      then([])
    }
  }
}

/// Finds messages of several rooms at once, a page of each at a time.
package final class StoredMessages {
  private let finders: [StoredMessageFinder]
  private var isClosed = false

  /// - Parameter pageMessages: of each room.
  package init(_ search: PageSearch, _ words: ByteString, in rooms: [RoomID], pageMessages: Int = 20) {
    finders = rooms.map { search.find(words, in: $0, pageMessages: pageMessages) }
  }

  package var isEmpty: Bool { finders.isEmpty }
  package var isAtEnd: Bool { finders.allSatisfy { $0.isAtEnd } }

  package func close() { isClosed = true }

  /// - Parameters:
  ///   - found: gets the next page of a room, as soon as it is there.
  ///   - then: once each room has given one, or has no more.
  package func more(_ found: @escaping (RoomID, [StoredMatch]) -> Void, _ then: @escaping () -> Void) {
    let open = finders.filter { !$0.isAtEnd }
    var left = open.count
    guard left > 0 else { return then() }
    for finder in open {
      finder.next { [self] matches in
        guard !isClosed else { return }
        if !matches.isEmpty { found(finder.room, matches) }
        left -= 1
        if left == 0 { then() }
      }
    }
  }
}
