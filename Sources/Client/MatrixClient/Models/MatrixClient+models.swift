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

  func detachModels(_ id: Int) { mails.removeValue(forKey: id)?.close() }

  func collectNews(for id: Int) -> ModelBatch? { mails[id]?.collect(core) }

  /// Opens the timeline for a model, and lets its feed know what comes.
  func watch(_ key: TimelineKey, for id: Int) {
    if watchedTimelines[key] == nil {
      watchedTimelines[key] = (count: 0, wasOpen: core.isOpen(key))
      handle(.command(key.focus == .live ? .openRoom(key.room) : .openTimeline(key), id: 0))
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
    handle(.command(key.focus == .live ? .closeRoom(key.room) : .closeTimeline(key), id: 0))
  }
}
