public import ClientCore
import SearchIndex

/// Search in what this device has stored.
extension MatrixRoom {
  /// Returns the stored messages that have all these words, the newest first. This also works in encrypted rooms, in which `MatrixClient.search` finds
  /// nothing, and without a network. Messages that this device has never loaded, or has no keys for, are not found.
  ///
  ///     for try await match in room.storedMessages(with: "tea kettle") { print(match.sender, match.content.body) }
  ///
  /// Each word begins a word of the message, its file's name or its poll's answers; upper and lower case and diacritics make no difference. In scripts
  /// without spaces it may be anywhere. Words without letters, digits or symbols find nothing.
  ///
  /// The first search in a room makes an index of it, in the store, newest messages first: it finds them as the index comes to them. From then on the
  /// index follows the room.
  public func storedMessages(with words: String) -> StoredMessages {
    StoredMessages(client: client, room: id, search: RoomSearch(ByteString(words), in: id))
  }
}

/// Messages that a search finds one after the other. The store is read as far as they are asked for.
public struct StoredMessages: AsyncSequence, Sendable {
  public typealias Element = StoredMatch
  public typealias Failure = ClientError

  let client: MatrixClient
  let room: RoomID
  let search: RoomSearch

  public func makeAsyncIterator() -> Iterator { Iterator(client: client, room: room, search: search) }

  public struct Iterator: AsyncIteratorProtocol {
    let client: MatrixClient
    let room: RoomID
    var search: RoomSearch
    /// The next one last.
    private var found: [StoredMatch] = []

    init(client: MatrixClient, room: RoomID, search: RoomSearch) {
      self.client = client
      self.room = room
      self.search = search
    }

    /// - Throws: `storeUnavailable`, `cancelled`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientError) -> StoredMatch? {
      if found.isEmpty {
        let step = try await client.advance(search, in: room)
        search = step.search
        found = step.found.reversed()
      }
      return found.popLast()
    }
  }
}
