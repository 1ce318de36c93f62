import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The messages that the account keeps for itself, as bookmarks: in each room's account data, by MSC2437. Changes go to the server one after
/// the other, because each is made of what the one before left.
final class SavedMessages<D: DOM> {
  /// Of one room: account data has its limit on the server.
  private static var limit: Int { 500 }

  private struct Change {
    let room: RoomID
    let events: [EventID]
    let isSaved: Bool
    let then: () -> Void
  }

  private let app: App<D>
  private var waiting: [Change] = []
  /// Rooms for which something was written, which syncs may not have told yet.
  private var written: Set<RoomID> = []

  init(_ app: App<D>) { self.app = app }

  /// Saves messages, or forgets them, and says how that ended.
  func set(_ events: [EventID], _ isSaved: Bool, in room: RoomID, _ then: @escaping () -> Void = {}) {
    waiting.append(Change(room: room, events: events, isSaved: isSaved, then: then))
    if waiting.count == 1 { start() }
  }

  private func start() {
    guard let change = waiting.first, let user = app.userID else { return waiting.removeAll() }
    // The server would answer 404.
    if app.client.room(change.room)?.hasTaggedEvents == false, !written.contains(change.room) {
      return write(change, TaggedEvents(), user)
    }
    app.ask(.accountData(TaggedEvents.type, of: user, in: change.room)) { [self] result in
      switch result {
      case .success(let json): write(change, TaggedEvents(json), user)
      // Nothing is saved yet.
      case .failure(.refused(404, _, _, _)): write(change, TaggedEvents(), user)
      case .failure(let error): end(Strings.words(for: error), isTrouble: true)
      }
    }
  }

  private func write(_ change: Change, _ known: TaggedEvents, _ user: UserID) {
    var tagged = known
    let now = Host.wallClockMilliseconds()
    for event in change.events {
      if change.isSaved {
        tagged.set(event, tag: TaggedEvents.favourite, now: now)
      } else {
        tagged.remove(event, tag: TaggedEvents.favourite)
      }
    }
    guard !change.isSaved || tagged.tags[TaggedEvents.favourite]?.count ?? 0 <= Self.limit else {
      return end(Strings[.savedFull, "\(Self.limit)"], isTrouble: true)
    }
    written.insert(change.room)
    app.ask(.setAccountData(TaggedEvents.type, tagged.content, of: user, in: change.room)) { [self] result in
      switch result {
      case .success:
        change.then()
        end(change.isSaved ? Strings[.messagesSaved, count: change.events.count] : Strings[.savedRemoved], isTrouble: false)
      case .failure(let error): end(Strings.words(for: error), isTrouble: true)
      }
    }
  }

  private func end(_ words: String, isTrouble: Bool) {
    app.notices.show(words, isTrouble: isTrouble)
    waiting.removeFirst()
    if !waiting.isEmpty { start() }
  }
}
