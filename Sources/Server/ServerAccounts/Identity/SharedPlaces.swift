/// Places that all requesters share, and that nobody can take from the others: if all are taken, the oldest place of the requester with the
/// most places is freed.
struct SharedPlaces<Key: Hashable, Value> {
  private struct Place {
    var value: Value
    let network: UInt64
  }

  private let limit: Int
  private var places: [Key: Place] = [:]
  /// The keys of each network, the oldest first; none is in it without any.
  private var keys: [UInt64: [Key]] = [:]

  init(limit: Int) { self.limit = limit }

  var isFull: Bool { places.count >= limit }

  subscript(key: Key) -> Value? { places[key]?.value }

  /// Takes a place, or changes what is in one, which stays its owner's. O(networks) where all are taken.
  ///
  /// - Parameter network: who asks, see `SocketAddress.network`.
  mutating func put(_ value: Value, at key: Key, from network: UInt64) {
    guard places[key] == nil else {
      places[key]?.value = value
      return
    }
    if isFull, let greediest = keys.max(by: { $0.value.count < $1.value.count }), let oldest = greediest.value.first {
      remove(oldest)
    }
    places[key] = Place(value: value, network: network)
    keys[network, default: []].append(key)
  }

  /// O(places of the same network).
  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    var left = keys.removeValue(forKey: place.network) ?? []
    if let index = left.firstIndex(of: key) { left.remove(at: index) }
    if !left.isEmpty { keys[place.network] = left }
    return place.value
  }

  mutating func removeAll(where isGone: (Value) -> Bool) {
    for (key, place) in places where isGone(place.value) { remove(key) }
  }
}
