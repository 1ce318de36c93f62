/// Names by number and numbers by name: an open-addressed table over bytes (the standard dictionary of texts would link
/// Unicode tables). For implementations of `DOM`.
public struct AtomTable {
  private var names: [String] = [""]
  /// Numbers by hash; 0 is an empty place. The size is a power of two and never more than half full.
  private var places = [Int32](repeating: 0, count: 256)

  public init() {}

  public func name(of atom: Atom) -> String {
    names.indices.contains(Int(atom.id)) ? names[Int(atom.id)] : ""
  }

  /// The number of a name, and whether it is new.
  public mutating func intern(_ name: String) -> (atom: Atom, isNew: Bool) {
    var place = AtomTable.hash(name) & (places.count - 1)
    while places[place] != 0 {
      if names[Int(places[place])].hasSameBytes(as: name) { return (Atom(id: places[place]), false) }
      place = (place + 1) & (places.count - 1)
    }
    names.append(name)
    places[place] = Int32(names.count - 1)
    let atom = Atom(id: places[place])
    if names.count * 2 > places.count { grow() }
    return (atom, true)
  }

  private mutating func grow() {
    places = [Int32](repeating: 0, count: places.count * 2)
    for number in 1..<names.count {
      var place = AtomTable.hash(names[number]) & (places.count - 1)
      while places[place] != 0 { place = (place + 1) & (places.count - 1) }
      places[place] = Int32(number)
    }
  }

  private static func hash(_ name: String) -> Int { Int(name.hash32 >> 1) }
}
