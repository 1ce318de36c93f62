import ClientCore
import Encryption
import MatrixModel
import SearchIndex

/// The index of stored messages (`MessageIndex`), which this carries out, and searches in it.
extension MatrixClient {
  /// Goes on until something is found. Nothing is found at the end.
  func advance(
    _ search: RoomSearch, in room: RoomID
  ) async throws(ClientError) -> (search: RoomSearch, found: [StoredMatch]) {
    var search = search
    beginIndex(of: room)
    while true {
      if Task.isCancelled || isStopped { throw .cancelled }
      if searchIndex.isBroken { throw .storeUnavailable(reason: "the index cannot be written") }
      switch search.next(searchIndex) {
      case .read(let ranges): search.take(try await storedTimeline(ranges, of: room))
      case .found(let found): return (search, found)
      case .index: await indexProgress()
      case .end: return (search, [])
      }
    }
  }

  private func beginIndex(of room: RoomID) {
    guard core.room(room) != nil, !isStopped else { return }
    queueIndexWrite(searchIndex.begin(room))
    searchIndex.keysCame(for: room)
    workOnIndex()
  }

  /// Keys of messages came.
  func indexLate(_ room: RoomID) {
    searchIndex.keysCame(for: room)
    workOnIndex()
  }

  /// What the index has of a room that the user has left goes.
  func forgetLeft(_ room: RoomID) {
    guard let membership = core.room(room)?.membership, membership == .leave || membership == .ban else { return }
    queueIndexWrite(searchIndex.forget(room))
  }

  // MARK: Work

  /// Does what the index needs, if nobody does so already.
  func workOnIndex() {
    guard !isIndexing, !isStopped else { return }
    isIndexing = true
    Task {
      await indexAll()
      isIndexing = false
      resumeIndexWaiters()
    }
  }

  private func indexAll() async {
    while !isStopped {
      switch searchIndex.next() {
      case .nothing: return
      // Everything else comes first.
      case .goOn: await Task.yield()
      case .read(let ranges, let room):
        guard let records = try? await storedTimeline(ranges, of: room) else {
          return searchIndex.written(false)
        }
        searchIndex.take(records.flatMap { $0 })
      case .write(let operations):
        searchIndex.written(await writeIndex(operations))
        resumeIndexWaiters()
      }
    }
  }

  /// Waits for the next write of the index.
  private func indexProgress() async {
    workOnIndex()
    guard isIndexing else { return }
    await withCheckedContinuation { indexWaiters.append($0) }
  }

  func resumeIndexWaiters() {
    let waiters = indexWaiters
    indexWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  private func queueIndexWrite(_ operations: [StoreOperation]) { if !operations.isEmpty { queueWrite(operations) { _ in } } }

  /// Behind all that was to be written before.
  private func writeIndex(_ operations: [StoreOperation]) async -> Bool {
    guard !isStopped, !operations.isEmpty else { return !isStopped }
    return await withCheckedContinuation { continuation in queueWrite(operations) { continuation.resume(returning: $0) } }
  }

  // MARK: The store

  /// Records of a room's timeline, decrypted as far as there are keys now, of each range by itself.
  private func storedTimeline(_ ranges: [StoreRange], of room: RoomID) async throws(ClientError) -> [[StoreRecord]] {
    var lists: [[StoreRecord]] = []
    for range in ranges {
      guard !isStopped else { throw .cancelled }
      do throws(StoreError) { lists.append(try await store.load(range)) } catch {
        throw .storeUnavailable(reason: ByteString("\(error)"))
      }
    }
    let places = lists.indices.filter { lists[$0].first.map { TimelineRecord.room(of: $0.key) != nil } ?? false }
    var clear = await decrypted(places.flatMap { lists[$0] }, of: room)[...]
    for place in places {
      lists[place] = Array(clear.prefix(lists[place].count))
      clear = clear.dropFirst(lists[place].count)
    }
    guard !isStopped else { throw .cancelled }
    return lists
  }

  /// Records of a room's timeline with clear events in the place of those for which there are keys.
  private func decrypted(_ records: [StoreRecord], of room: RoomID) async -> [StoreRecord] {
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
