import JSON

/// Where a timeline segment stands among those of its room.
///
/// What the syncs bring is numbered: 0, 1, 2 … Pages only ever go backwards, so a page stands directly in front of what it was
/// asked from: it has the same number and the next page count. Segments of one number, its block, thus follow one another
/// without a gap, the highest page first. Between two blocks there may be a gap, and the first segment of a block knows: it is
/// `limited`, and its token leads into the gap. Filling the gap adds one more segment to the front of the block and changes none.
///
/// The text is made of hexadecimal digits, 12 of the block and 6 of the pages counted down, so that the order of the texts
/// is the order of the events.
package struct SegmentPosition: Hashable, Comparable, Sendable {
  package let block: Int64
  package let page: Int32

  static let blockLimit: Int64 = 1 << 48
  private static let lastPage: Int32 = 0xFF_FFFF
  private static let digits = (block: 12, page: 6)

  package init(block: Int64, page: Int32 = 0) {
    self.block = block
    self.page = page
  }

  /// Reads the end of a segment's key. Returns nil for another key.
  package init?(key: ByteString) {
    let bytes = Array(key.utf8.suffix(Self.digits.block + Self.digits.page))
    guard bytes.count == Self.digits.block + Self.digits.page else { return nil }
    guard let block = Self.number(bytes[..<Self.digits.block]), let page = Self.number(bytes[Self.digits.block...])
    else { return nil }
    self.init(block: block, page: Self.lastPage - Int32(page))
  }

  /// Directly in front of this one; nil where 2^24 pages are there already.
  var older: SegmentPosition? { page < Self.lastPage ? SegmentPosition(block: block, page: page + 1) : nil }

  package var text: String {
    StoreKey.hexadecimal(UInt64(block), digits: Self.digits.block)
      + StoreKey.hexadecimal(UInt64(Self.lastPage - page), digits: Self.digits.page)
  }

  package static func < (left: SegmentPosition, right: SegmentPosition) -> Bool {
    left.block != right.block ? left.block < right.block : left.page > right.page
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var number: Int64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | Int64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | Int64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }
}
