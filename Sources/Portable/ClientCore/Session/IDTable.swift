/// Values by an ID that grows: what waits for an answer. In the order of the IDs, found by halving; for thousands at most.
///
/// Every `Dictionary` with a value type of its own is 4 KB of the page's program, this is a fifth of that.
package struct IDTable<Value>: ExpressibleByDictionaryLiteral {
  package private(set) var keys: [UInt32] = []
  package private(set) var values: [Value] = []

  package init(dictionaryLiteral elements: (UInt32, Value)...) {
    for (id, value) in elements { self[id] = value }
  }

  package var isEmpty: Bool { keys.isEmpty }

  package subscript(id: UInt32) -> Value? {
    get {
      let i = index(of: id)
      return has(id, at: i) ? values[i] : nil
    }
    set {
      let i = index(of: id)
      if has(id, at: i) {
        guard let newValue else { return remove(at: i) }
        values[i] = newValue
      } else if let newValue {
        keys.insert(id, at: i)
        values.insert(newValue, at: i)
      }
    }
  }

  package mutating func removeValue(forKey id: UInt32) -> Value? {
    let i = index(of: id)
    guard has(id, at: i) else { return nil }
    keys.remove(at: i)
    return values.remove(at: i)
  }

  package mutating func removeAll(where isUnwanted: (Value) -> Bool) {
    for i in values.indices.reversed() where isUnwanted(values[i]) { remove(at: i) }
  }

  private mutating func remove(at i: Int) {
    keys.remove(at: i)
    values.remove(at: i)
  }

  private func has(_ id: UInt32, at i: Int) -> Bool { i < keys.count && keys[i] == id }

  /// Where it is or would be.
  private func index(of id: UInt32) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension IDTable: Sendable where Value: Sendable {}
