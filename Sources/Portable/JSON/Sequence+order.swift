extension Sequence {
  /// What `sorted(by:)` gives, by one sort for all types of elements: a sort of its own for each is 3 KB of the page's program.
  /// Stable.
  package func ordered(by isBefore: (Element, Element) -> Bool) -> [Element] {
    let elements = Array(self)
    return orderedIndices(elements.count) { isBefore(elements[$0], elements[$1]) }.map { elements[$0] }
  }
}

extension Sequence where Element: Comparable {
  package func ordered() -> [Element] { ordered { $0 < $1 } }
}

@inline(never)
func orderedIndices(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] { (0..<count).sorted(by: isBefore) }
