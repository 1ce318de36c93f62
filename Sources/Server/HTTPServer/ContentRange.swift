/// Which bytes of a whole a message has. RFC 9110 §14.4.
package struct ContentRange: Equatable, Sendable {
  /// Empty, at the end, where the field says `*`.
  package let range: Range<Int64>
  /// Bytes of the whole.
  package let size: Int64

  /// nil for another unit, a range that is not within the whole, and a whole of unknown size.
  package init?(_ value: ArraySlice<UInt8>) {
    guard let blank = value.firstIndex(of: UInt8(ascii: " ")), ASCII.equal(value[..<blank], "bytes"),
      let slash = value.lastIndex(of: UInt8(ascii: "/")), slash > blank, let size = ASCII.number(value[(slash + 1)...])
    else { return nil }
    let range = ASCII.trimmed(value[(blank + 1)..<slash])
    self.size = size
    if range.elementsEqual("*".utf8) {
      self.range = size..<size
      return
    }
    guard let dash = range.firstIndex(of: UInt8(ascii: "-")), let first = ASCII.number(range[..<dash]),
      let last = ASCII.number(range[(dash + 1)...]), first <= last, last < size
    else { return nil }
    self.range = first..<last + 1
  }
}
