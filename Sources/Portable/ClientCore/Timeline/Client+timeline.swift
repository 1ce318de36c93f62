import JSON
import MatrixModel

extension Client {
  // MARK: Opening

  /// A room the syncs have not brought yet (just made or joined) opens as soon as they do.
  mutating func openRoom(_ id: RoomID, _ command: CommandID) {
    if !openRooms.contains(id) { openRooms.append(id) }
    keptTimelines.removeAll { $0 == id }
    keptTimelines.append(id)
    dropOldTimelines()
    slidingChapter?.renewSubscriptions(&self)
    loadPeople(id)
    if let room = rooms[id], room.timeline.loadState == .unloaded { loadTimeline(id) }
    finish(command, .done)
  }

  /// Reads the end of it from the store.
  mutating func loadTimeline(_ id: RoomID) {
    let load = load(
      StoreRange(prefix: StoreKey.timeline(of: id), isDescending: true, limit: Limits.loadedSegments), .timeline(id))
    rooms[id]?.timeline.loadState = .loading
    rooms[id]?.timeline.showsThreads = showsThreadsInline
    rooms[id]?.timeline.load = load
  }

  mutating func closeRoom(_ id: RoomID, _ command: CommandID) {
    openRooms.removeAll { $0 == id }
    rooms[id]?.reading.viewed = nil
    if drafts.unstored.contains(where: { $0.room == id }) { writeDrafts() }
    stopTyping(id)
    dropOldTimelines()
    finish(command, .done)
  }

  /// Of the rooms not on the screen the last few stay, and only while they are short. All stay where the store has missed
  /// something and could not bring them back.
  private mutating func dropOldTimelines() {
    if isStoreBroken { return }
    let closed = keptTimelines.filter { !openRooms.contains($0) }
    for (i, id) in closed.enumerated() {
      let isLong = (rooms[id]?.timeline.items.count ?? 0) > Limits.keptItems
      guard isLong || i < closed.count - Limits.keptTimelines else { continue }
      keptTimelines.removeAll { $0 == id }
      rooms[id]?.timeline = Timeline()
      notify(.timeline(.live(id), [.reset([])]))
    }
  }

  /// Who is at the end of a long timeline has no need of its beginning: the end is read from the store anew, and older pages come
  /// from there as they are asked for.
  mutating func shorten(_ id: RoomID, at item: ItemID) {
    guard !isStoreBroken, let timeline = rooms[id]?.timeline, timeline.items.count > Limits.openItems,
      timeline.items.last?.id == item, timeline.isAtRest
    else { return }
    loadTimeline(id)
  }

  mutating func timelineLoaded(_ id: RoomID, _ records: [StoreRecord]) {
    guard let user = session?.userID, let room = rooms[id], room.timeline.loadState == .loading else { return }
    // Rows want names.
    guard room.state.hasPeople else {
      rooms[id]?.timeline.waitingRecords = records
      return
    }
    let outbox = outbox
    changeTimeline(.live(id)) { timeline, ids in
      // While the store was reading there were echoes, of which those written since stay; or what is shown anew.
      timeline.letGo()
      for item in outbox.items(in: id, sender: user) { _ = timeline.appendEcho(item) }
      timeline.load(records, lastBlock: room.state.history.lastBlock, ownUserID: user, &ids)
      timeline.showChanges(outbox, in: id, ownUserID: user)
      timeline.placeReaders(room.state)
      timeline.formerItems = [:]
      return [.reset(timeline.items)]
    }
    forgetDeliveredEchoes(in: id)
    notify(.room(id, .pagination))
    if hasAttention { readWhatIsViewed() }
    if let timeline = rooms[id]?.timeline, timeline.remoteCount < Limits.storedPageItems {
      loadOlderSegments(id, 0, items: Limits.storedPageItems - timeline.remoteCount, asksServer: false)
    }
  }

  /// Entries that `load` found to be here already.
  private mutating func forgetDeliveredEchoes(in id: RoomID) {
    for entry in outbox.entries(in: id) {
      guard case .sent(let event, _) = entry.phase, let timeline = rooms[id]?.timeline,
        let item = timeline.itemOfEvent[event], item != entry.itemID
      else { continue }
      forget(entry)
      write([.delete(key: StoreKey.outbox(entry.id))])
    }
  }
}
