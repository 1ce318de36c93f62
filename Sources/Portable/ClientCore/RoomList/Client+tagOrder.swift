import JSON
import MatrixModel

extension Client {
  /// The joined rooms with this tag in the order of its numbers, then those without a number. Equal ones stand by their last message.
  public func rooms(tagged name: ByteString) -> [RoomID] { tagged(name).map { $0.id } }

  /// The orders that make the room the one at that index among those with the tag, as few as it takes; empty where it stands there.
  /// - Parameter index: in the list without the room; one beyond its end is the end.
  public func tagOrders(toMove room: RoomID, to index: Int, tag name: ByteString) -> [(room: RoomID, order: Double)] {
    let all = tagged(name)
    var wanted = all.filter { $0.id != room }
    let place = max(0, min(index, wanted.count))
    let known = all.first { $0.id == room }
    wanted.insert((room, known?.order), at: place)
    if known != nil, wanted.map({ $0.id }) == all.map({ $0.id }) { return [] }
    // Whatever stands before it has to have an order.
    let start = (wanted[..<place].lastIndex { $0.order != nil } ?? -1) + 1
    let low = start > 0 ? wanted[start - 1].order ?? 0 : 0
    let high = wanted[(place + 1)...].first?.order ?? max(1, low)
    let step = (high - low) / Double(place - start + 2)
    // Less than what is written of an order tells them apart.
    guard step > 1e-12 else {
      return wanted.enumerated().map { ($1.id, Double($0 + 1) / Double(wanted.count + 1)) }
    }
    return wanted[start...place].enumerated().map { ($1.id, low + step * Double($0 + 1)) }
  }

  private func tagged(_ name: ByteString) -> [(id: RoomID, order: Double?)] {
    var found: [(key: RoomListKey, order: Double?)] = []
    for room in rooms.values where room.membership == .join {
      guard let tag = room.tag(name) else { continue }
      var key = RoomListKey(activity: room.lastActivityMilliseconds, id: room.id)
      key.tagOrder = tag.order ?? .infinity
      found.append((key, tag.order))
    }
    return found.ordered { $0.key < $1.key }.map { ($0.key.id, $0.order) }
  }
}
