/// The head of a file in a tar stream, 512 bytes. POSIX.1-2017, "pax", "ustar Interchange Format"; sizes of 8 GiB and more as GNU tar writes them,
/// in base 256.
struct TarEntry: Equatable {
  enum Kind: Equatable {
    case file, folder
    case other(UInt8)
  }

  static let blockBytes = 512
  /// Two empty blocks end a stream.
  static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

  var name: String
  var bytes: Int64
  /// Seconds since 1970.
  var modified: Int64
  var kind = Kind.file

  private static let nameBytes = 100
  private static let octalLimit: Int64 = 1 << 33

  /// How many bytes follow the file to fill its last block.
  var padding: Int { Int((Int64(Self.blockBytes) - bytes % Int64(Self.blockBytes)) % Int64(Self.blockBytes)) }

  /// The head of a file, for its owner only. `name` has at most 100 bytes.
  var block: [UInt8] {
    precondition(name.utf8.count <= Self.nameBytes, "a name that does not fit into a tar stream")
    var block = [UInt8](repeating: 0, count: Self.blockBytes)
    block.replaceSubrange(0..<name.utf8.count, with: name.utf8)
    Self.octal(0o600, in: 100..<108, of: &block)
    Self.octal(0, in: 108..<116, of: &block)
    Self.octal(0, in: 116..<124, of: &block)
    if bytes < Self.octalLimit {
      Self.octal(bytes, in: 124..<136, of: &block)
    } else {
      Self.base256(bytes, in: 124..<136, of: &block)
    }
    Self.octal(modified, in: 136..<148, of: &block)
    block[156] = UInt8(ascii: "0")
    block.replaceSubrange(257..<265, with: Array("ustar\u{0}00".utf8))
    Self.octal(Self.checksum(block), in: 148..<155, of: &block)
    block[155] = UInt8(ascii: " ")
    return block
  }

  init(name: String, bytes: Int64, modified: Int64) { (self.name, self.bytes, self.modified) = (name, bytes, modified) }

  /// nil for a block that is not a head of a file.
  init?(_ block: [UInt8]) {
    guard block.count == Self.blockBytes, Self.number(block[148..<156]) == Self.checksum(block),
      let bytes = Self.number(block[124..<136]), bytes >= 0, let modified = Self.number(block[136..<148])
    else { return nil }
    let name = Self.text(block[0..<100]), prefix = Self.text(block[345..<500])
    let isUstar = block[257..<262].elementsEqual("ustar".utf8) && block[262] == 0
    self.init(name: isUstar && !prefix.isEmpty ? "\(prefix)/\(name)" : name, bytes: bytes, modified: modified)
    switch block[156] {
    case 0, UInt8(ascii: "0"): kind = .file
    case UInt8(ascii: "5"): kind = .folder
    case let other: kind = .other(other)
    }
  }

  private static func octal(_ value: Int64, in field: Range<Int>, of block: inout [UInt8]) {
    var rest = max(0, value)
    for index in (field.lowerBound..<field.upperBound - 1).reversed() {
      block[index] = UInt8(ascii: "0") + UInt8(rest & 7)
      rest >>= 3
    }
  }

  private static func base256(_ value: Int64, in field: Range<Int>, of block: inout [UInt8]) {
    var rest = value
    for index in field.reversed() {
      block[index] = UInt8(rest & 0xFF)
      rest >>= 8
    }
    block[field.lowerBound] = 0x80
  }

  /// The sum of all bytes, those of the checksum's own field taken as blanks.
  private static func checksum(_ block: [UInt8]) -> Int64 {
    block.indices.reduce(0) { $0 + (148..<156 ~= $1 ? 0x20 : Int64(block[$1])) }
  }

  /// A number in octal digits with blanks or NUL around them, or in base 256; nil for anything else.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    if field.first == 0x80 {
      guard field.dropFirst().prefix(field.count - 8).allSatisfy({ $0 == 0 }), field[field.endIndex - 8] < 0x80 else {
        return nil
      }
      return field.suffix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0x20 && $0 != 0 }
    guard digits.count <= 12, digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 << 3 | Int64($1 - 0x30) }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field.prefix { $0 != 0 }, as: UTF8.self) }
}
