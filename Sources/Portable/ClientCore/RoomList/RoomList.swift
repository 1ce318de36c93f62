import JSON
import MatrixModel

/// A list of rooms that is open: sections in order, each sorted, of each the first pages.
///
/// A room that changes costs O(log rooms) comparisons of its keys, and four bytes of memory move for each room between its old place and
/// its new one.
public struct RoomList: Sendable {
  public let query: RoomListQuery
  /// The folded words of the filter.
  let words: FoldedText
  /// The rooms of the space that the filter names.
  var spaceRooms: Set<RoomID> = []
  private var shelves: [Shelf]
  private var entries: [Entry] = []
  private var slots: [RoomID: Int32] = [:]
  private var freeSlots: [Int32] = []

  private struct Shelf: Sendable {
    let section: RoomListSection
    /// Slots of entries, in order.
    var slots: [Int32] = []
    /// How many of them are shown.
    var limit: Int

    var shown: Int { min(limit, slots.count) }
  }

  struct Entry: Sendable {
    /// Index of the section in the query.
    let shelf: Int
    let key: RoomListKey
  }

  init(_ query: RoomListQuery) {
    self.query = query
    words = FoldedText(term: query.filter.words)
    let limit = max(1, query.pageSize ?? .max)
    var seen: [RoomListSection] = []
    shelves = query.sections.map { section in
      defer { seen.append(section) }
      // One that stands twice stays empty the second time.
      return Shelf(section: section, limit: seen.contains(section) ? 0 : limit)
    }
  }

  // MARK: Reading

  /// The rooms that are shown of a section. O(rooms of it).
  public func rooms(in section: RoomListSection) -> [RoomID] {
    shelf(section).map { shelf in shelf.slots.prefix(shelf.shown).map { entries[Int($0)].key.id } } ?? []
  }

  /// All of a section, shown or not. O(rooms of it).
  public func allRooms(in section: RoomListSection) -> [RoomID] {
    shelf(section).map { shelf in shelf.slots.map { entries[Int($0)].key.id } } ?? []
  }

  /// nil outside of what is shown. O(1).
  public subscript(place: RoomListPlace) -> RoomID? {
    guard let shelf = shelf(place.section), place.index >= 0, place.index < shelf.shown else { return nil }
    return entries[Int(shelf.slots[place.index])].key.id
  }

  /// How many rooms a section shows. O(1).
  public func shownCount(of section: RoomListSection) -> Int { shelf(section)?.shown ?? 0 }

  /// How many rooms it has, shown or not. O(1).
  public func count(of section: RoomListSection) -> Int { shelf(section)?.slots.count ?? 0 }

  /// Where the room is shown; nil where it is not. O(log rooms).
  public func place(of room: RoomID) -> RoomListPlace? {
    guard let slot = slots[room] else { return nil }
    let entry = entries[Int(slot)]
    let index = index(of: entry.key, in: entry.shelf)
    return index < shelves[entry.shelf].shown ? RoomListPlace(shelves[entry.shelf].section, index) : nil
  }

  /// All rooms that are shown, section by section as in the query.
  public var rooms: [[RoomID]] { shelves.map { rooms(in: $0.section) } }

  var count: Int { slots.count }
  var roomIDs: Dictionary<RoomID, Int32>.Keys { slots.keys }

  private func shelf(_ section: RoomListSection) -> Shelf? { shelves.first { $0.section == section } }

  // MARK: Changing

  /// Everything anew. O(rooms · log rooms).
  mutating func fill(_ all: [Entry]) {
    entries = all
    freeSlots = []
    slots = Dictionary(minimumCapacity: all.count)
    for i in shelves.indices { shelves[i].slots = [] }
    for (i, entry) in all.enumerated() {
      slots[entry.key.id] = Int32(i)
      shelves[entry.shelf].slots.append(Int32(i))
    }
    for i in shelves.indices { shelves[i].slots = shelves[i].slots.ordered { all[Int($0)].key < all[Int($1)].key } }
  }

  /// Puts the room where it belongs; nil where it does not belong into the list any more.
  mutating func update(_ id: RoomID, _ new: Entry?) -> [RoomListChange] {
    guard let slot = slots[id] else { return new.map { insert($0) } ?? [] }
    let old = entries[Int(slot)]
    let from = index(of: old.key, in: old.shelf)
    guard let new else { return remove(id, slot, from: from, of: old.shelf) }
    if new.shelf == old.shelf, new.key == old.key { return updated(id, new.shelf, from) }
    return move(id, slot, new, from: from, of: old.shelf)
  }

  /// The next page of a section is shown.
  mutating func grow(_ section: RoomListSection) -> [RoomListChange] {
    guard let i = shelves.firstIndex(where: { $0.section == section }), let page = query.pageSize else { return [] }
    let shown = shelves[i].shown
    if shelves[i].limit < shelves[i].slots.count { shelves[i].limit += max(1, page) }
    return (shown..<shelves[i].shown).map { inserted(i, $0) }
  }

  private mutating func insert(_ new: Entry) -> [RoomListChange] {
    let slot: Int32
    if let free = freeSlots.popLast() {
      slot = free
      entries[Int(free)] = new
    } else {
      slot = Int32(entries.count)
      entries.append(new)
    }
    slots[new.key.id] = slot
    var changes: [RoomListChange] = []
    let to = index(of: new.key, in: new.shelf)
    let isShown = makeRoom(at: to, in: new.shelf, &changes)
    shelves[new.shelf].slots.insert(slot, at: to)
    if isShown { changes.append(inserted(new.shelf, to)) }
    return changes
  }

  private mutating func remove(_ id: RoomID, _ slot: Int32, from: Int, of shelf: Int) -> [RoomListChange] {
    slots[id] = nil
    freeSlots.append(slot)
    let isShown = from < shelves[shelf].shown
    shelves[shelf].slots.remove(at: from)
    guard isShown else { return [] }
    return [.removed(id, at: RoomListPlace(shelves[shelf].section, from))] + fillUp(shelf)
  }

  private mutating func move(_ id: RoomID, _ slot: Int32, _ new: Entry, from: Int, of shelf: Int) -> [RoomListChange] {
    let wasShown = from < shelves[shelf].shown
    shelves[shelf].slots.remove(at: from)
    entries[Int(slot)] = new
    let to = index(of: new.key, in: new.shelf)
    let place = RoomListPlace(shelves[new.shelf].section, to)
    let origin = RoomListPlace(shelves[shelf].section, from)
    var changes: [RoomListChange] = []
    if shelf == new.shelf {
      shelves[shelf].slots.insert(slot, at: to)
      if from == to { return updated(id, shelf, to) }
      let isShown = to < shelves[shelf].shown
      if wasShown, isShown { return [.moved(id, from: origin, to: place)] }
      if wasShown { return [.removed(id, at: origin), inserted(shelf, shelves[shelf].shown - 1)] }
      guard isShown else { return [] }
      // What was the last one shown is now the first behind.
      let last = shelves[shelf].slots[shelves[shelf].shown]
      changes.append(
        .removed(entries[Int(last)].key.id, at: RoomListPlace(place.section, shelves[shelf].shown - 1)))
      return changes + [inserted(shelf, to)]
    }
    let isShown = makeRoom(at: to, in: new.shelf, &changes)
    shelves[new.shelf].slots.insert(slot, at: to)
    switch (wasShown, isShown) {
    case (true, true): changes.append(.moved(id, from: origin, to: place))
    case (true, false): changes.append(.removed(id, at: origin))
    case (false, true): changes.append(inserted(new.shelf, to))
    case (false, false): break
    }
    return wasShown ? changes + fillUp(shelf) : changes
  }

  /// Makes room for a row at this place. Returns whether it is shown there; if the pages are full, the last shown row leaves them.
  private func makeRoom(at index: Int, in shelf: Int, _ changes: inout [RoomListChange]) -> Bool {
    guard index < shelves[shelf].limit else { return false }
    if shelves[shelf].slots.count >= shelves[shelf].limit {
      let last = shelves[shelf].limit - 1
      let id = entries[Int(shelves[shelf].slots[last])].key.id
      changes.append(.removed(id, at: RoomListPlace(shelves[shelf].section, last)))
    }
    return true
  }

  /// After one that was shown has gone: the first one behind is shown.
  private func fillUp(_ shelf: Int) -> [RoomListChange] {
    shelves[shelf].slots.count >= shelves[shelf].limit ? [inserted(shelf, shelves[shelf].limit - 1)] : []
  }

  private func inserted(_ shelf: Int, _ index: Int) -> RoomListChange {
    .inserted(
      entries[Int(shelves[shelf].slots[index])].key.id, at: RoomListPlace(shelves[shelf].section, index))
  }

  private func updated(_ id: RoomID, _ shelf: Int, _ index: Int) -> [RoomListChange] {
    index < shelves[shelf].shown ? [.updated(id, at: RoomListPlace(shelves[shelf].section, index))] : []
  }

  /// Where it is or would be.
  private func index(of key: RoomListKey, in shelf: Int) -> Int {
    let slots = shelves[shelf].slots
    var (low, high) = (0, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[Int(slots[middle])].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
