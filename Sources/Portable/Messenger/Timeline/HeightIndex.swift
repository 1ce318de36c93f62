/// Heights of rows with prefix sums and offset lookup in O(log n): a Fenwick tree beside the plain heights.
///
/// Node `i` of the tree (counted from 1) holds the sum of the rows `(i - lowbit(i), i]`. Changing one height and appending
/// are O(log n). Edits elsewhere make the tree stale; `settle` builds it again in O(n), about 0.3 ms for 100,000 rows,
/// once for any number of edits.
public struct HeightIndex {
  /// Pixels, by row.
  public private(set) var heights: [Float] = []
  private var tree: [Double] = [0]
  /// The highest power of two that is not above `count`.
  private var top = 0
  private var isStale = false
  /// The sum of all heights.
  public private(set) var total: Double = 0

  public init() {}

  public var count: Int { heights.count }

  public mutating func replaceAll(_ new: [Float]) {
    heights = new
    build()
  }

  public mutating func append(_ height: Float) {
    heights.append(height)
    guard !isStale else { return }
    let node = heights.count
    let low = node & -node
    var sum = Double(height)
    var step = 1
    while step < low {
      sum += tree[node - step]
      step <<= 1
    }
    tree.append(sum)
    total += Double(height)
    if top == 0 { top = 1 }
    while top * 2 <= node { top *= 2 }
  }

  /// Puts heights in the place of `range`. `settle` must follow before anything is asked.
  public mutating func replaceSubrange(_ range: Range<Int>, with new: [Float]) {
    heights.replaceSubrange(range, with: new)
    isStale = true
  }

  /// Ends a series of `replaceSubrange`.
  public mutating func settle() {
    if isStale { build() }
  }

  /// Returns by how much the row grew.
  @discardableResult
  public mutating func set(_ row: Int, _ height: Float) -> Double {
    let growth = Double(height) - Double(heights[row])
    heights[row] = height
    guard growth != 0, !isStale else { return growth }
    var node = row + 1
    while node < tree.count {
      tree[node] += growth
      node += node & -node
    }
    total += growth
    return growth
  }

  /// The sum of the heights of the rows before `row`; `count` is allowed.
  public func offset(of row: Int) -> Double {
    var sum = 0.0
    var node = row
    while node > 0 {
      sum += tree[node]
      node -= node & -node
    }
    return sum
  }

  /// The row that contains the offset; the first or the last one for offsets outside. 0 when there are no rows.
  public func row(at offset: Double) -> Int {
    var position = 0
    var rest = offset
    var step = top
    while step > 0 {
      let next = position + step
      if next < tree.count, tree[next] <= rest {
        position = next
        rest -= tree[next]
      }
      step >>= 1
    }
    return max(0, min(position, heights.count - 1))
  }

  private mutating func build() {
    let count = heights.count
    tree = [Double](repeating: 0, count: count + 1)
    var sum = 0.0
    var node = 1
    while node <= count {
      let height = Double(heights[node - 1])
      sum += height
      tree[node] += height
      let parent = node + (node & -node)
      if parent <= count { tree[parent] += tree[node] }
      node += 1
    }
    total = sum
    top = count == 0 ? 0 : 1
    while top > 0, top * 2 <= count { top *= 2 }
    isStale = false
  }
}
