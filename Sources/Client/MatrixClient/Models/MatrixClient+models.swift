import ClientCore
import MatrixModel

/// What the client does for its models.
extension MatrixClient {
  /// A mail of its own for a feed; the bell rings where there is something in it.
  func attachModels() -> (id: Int, bell: AsyncStream<Void>) {
    let (bell, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    lastMail += 1
    mails[lastMail] = ModelMail(continuation)
    return (lastMail, bell)
  }

  func detachModels(_ id: Int) {
    guard let mail = mails.removeValue(forKey: id) else { return }
    for list in mail.listIDs { closeRoomList(list) }
    mail.close()
  }

  func collectNews(for id: Int) -> ModelBatch? { mails[id]?.collect(core) }

  // MARK: Lists

  /// Opens the list for a model, or has it show something else.
  func show(_ query: RoomListQuery, inList key: Int, for feed: Int) {
    guard let mail = mails[feed] else { return }
    let id: RoomListID
    if let known = mail.list(key) {
      id = known
    } else {
      lastRoomList += 1
      id = lastRoomList
      mails[feed]?.watch(id, as: key)
    }
    handle(.command(.roomList(.open(id, query)), id: 0))
  }

  func grow(_ section: RoomListSection, ofList key: Int, for feed: Int) {
    if let id = mails[feed]?.list(key) { growRoomList(id, section) }
  }

  func closeList(_ key: Int, for feed: Int) {
    guard let id = mails[feed]?.list(key) else { return }
    mails[feed]?.unwatch(key)
    closeRoomList(id)
  }

  // MARK: Timelines

  /// Opens the timeline for a model, and lets its feed know what comes.
  func watch(_ key: TimelineKey, for id: Int) {
    if watchedTimelines[key] == nil {
      watchedTimelines[key] = (count: 0, wasOpen: core.isOpen(key))
      handle(.command(.timeline(key.focus == .live ? .openRoom(key.room) : .open(key)), id: 0))
    }
    watchedTimelines[key]?.count += 1
    mails[id]?.watch(key, core.timeline(key)?.items ?? [])
  }

  func unwatch(_ key: TimelineKey) {
    guard let watched = watchedTimelines[key] else { return }
    watchedTimelines[key]?.count -= 1
    guard watched.count <= 1 else { return }
    watchedTimelines[key] = nil
    for id in mails.keys { mails[id]?.unwatch(key) }
    guard !watched.wasOpen else { return }
    handle(.command(.timeline(key.focus == .live ? .closeRoom(key.room) : .close(key)), id: 0))
  }
}
