public import ClientCore
import Encryption
import JSON
import MatrixModel

/// Search in what this device has stored.
extension MatrixRoom {
  /// Returns the stored messages that have all these words, the newest first. This also works in encrypted rooms, in which `MatrixClient.search` finds
  /// nothing, and without a network. Messages that this device has never loaded, or has no keys for, are not found.
  ///
  ///     for try await match in room.storedMessages(with: "tea kettle") { print(match.sender, match.content.body) }
  ///
  /// Each word begins a word of the message, its file's name or its poll's answers; upper and lower case and diacritics make no difference.
  public func storedMessages(with words: String) -> StoredMessages {
    StoredMessages(client: client, room: id, search: StoredSearch(ByteString(words), in: id))
  }
}

/// Messages that a search finds one after the other. The store is read as far as they are asked for.
public struct StoredMessages: AsyncSequence, Sendable {
  public typealias Element = StoredMatch
  public typealias Failure = ClientError

  let client: MatrixClient
  let room: RoomID
  let search: StoredSearch

  public func makeAsyncIterator() -> Iterator { Iterator(client: client, room: room, search: search) }

  public struct Iterator: AsyncIteratorProtocol {
    let client: MatrixClient
    let room: RoomID
    var search: StoredSearch
    /// The next one last.
    private var found: [StoredMatch] = []

    init(client: MatrixClient, room: RoomID, search: StoredSearch) {
      self.client = client
      self.room = room
      self.search = search
    }

    /// - Throws: `storeUnavailable`, `cancelled`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientError) -> StoredMatch? {
      while found.isEmpty {
        if Task.isCancelled { throw .cancelled }
        guard let range = search.nextRange else { return nil }
        found = search.take(try await client.storedTimeline(range, of: room)).reversed()
      }
      return found.popLast()
    }
  }
}

extension MatrixClient {
  /// Records of a room's timeline, decrypted as far as there are keys now.
  func storedTimeline(_ range: StoreRange, of room: RoomID) async throws(ClientError) -> [StoreRecord] {
    guard !isStopped else { throw .cancelled }
    let records: [StoreRecord]
    do throws(StoreError) { records = try await store.load(range) } catch {
      throw .storeUnavailable(reason: ByteString("\(error)"))
    }
    guard !isStopped else { throw .cancelled }
    // The core counts its own from below.
    lastStoredLoad -= 1
    let id = lastStoredLoad
    return await withCheckedContinuation { continuation in
      storedLoads[id] = continuation
      var isTaken = false
      step { host in
        let sealed = records.map { EncryptionRecord(key: $0.key, value: $0.value) }
        guard let step = host.take(sealed, of: room, for: id, at: MatrixClient.now()) else { return EncryptionStep() }
        isTaken = true
        return step
      }
      if !isTaken { endStoredLoad(id, records) }
    }
  }

  func endStoredLoad(_ id: LoadID, _ records: [StoreRecord]) { storedLoads.removeValue(forKey: id)?.resume(returning: records) }
}
