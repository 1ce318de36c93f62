import ClientCore
import MatrixModel
import MessageRows
import Messenger
import WebHost

/// Older and newer messages, and the way back to a place among them.
extension Feed {
  func head(_ source: ClientCore.Timeline, _ room: Room) -> HeadState {
    // Nobody reads a room before they are in it.
    guard room.membership != .invite, key?.focus != .pinned else { return .hidden }
    return switch source.backState {
    case .idle: .more(pages.areBarren ? .onDemand : .idle)
    case .loading: .more(.loading)
    case .failed: .more(.failed)
    case .atStart: .start
    }
  }

  func tail(_ source: ClientCore.Timeline) -> TailState {
    switch source.forwardState {
    case .idle: .more(.idle)
    case .loading: .more(.loading)
    case .failed: .more(.failed)
    case .live: .live
    }
  }

  func paginationChanged() {
    guard let room, let source, source.loadState == .loaded else { return }
    guard seeking == nil else { return seek() }
    settle()
    pages.count(source.backState, rows: timeline.count)
    timeline.setHead(head(source, room))
    timeline.setTail(tail(source))
  }

  /// The reader asks for older messages.
  func loadOlder() {
    guard let key else { return }
    pages = PageCount()
    app.ask(.timeline(.paginateBack(key)))
  }

  // MARK: Returning to a place

  /// One page more, unless the place is found or there is nothing more to look through.
  func seek() {
    guard let saved = seeking, let key, let source else { return }
    let isFound = source.index(of: saved.event) != nil
    switch source.backState {
    case .loading where !isFound: return
    case .idle where !isFound && source.items.count < SavedPlace.itemsLimit: app.ask(.timeline(.paginateBack(key)))
    default: stopSeeking()
    }
  }

  func stopSeeking() {
    seeking = nil
    loadRows(isOpening: false)
    dom.flush()
  }

  /// Remembers which message the reader looks at; at the end nothing needs to be remembered.
  func savePlace() {
    guard isLive, let key, seeking == nil, let source, source.loadState == .loaded else { return }
    guard let position = timeline.readingPosition, let index = source.index(of: folding.item(at: position.row)) else {
      return SavedPlace.forget(key.room)
    }
    // Rows without an event (a gap) are no place one could find again: the next one is.
    for (offset, item) in source.items[index...].enumerated() {
      guard let event = item.eventID else { continue }
      return SavedPlace(event: event, offset: offset == 0 ? position.offset : 0).save(key.room)
    }
  }
}

/// Whether pages still bring rows. What is in them may all stand folded into one row: nobody wants thousands of joins fetched one
/// page after the other.
struct PageCount {
  private static var barrenLimit: Int { 5 }
  private var barren = 0
  private var rows = 0
  private var isLoading = false

  var areBarren: Bool { barren >= PageCount.barrenLimit }

  mutating func count(_ state: ClientCore.Timeline.BackState, rows now: Int) {
    if state == .loading { isLoading = true }
    guard isLoading, state == .idle else { return }
    isLoading = false
    barren = now > rows ? 0 : barren + 1
    rows = now
  }
}
