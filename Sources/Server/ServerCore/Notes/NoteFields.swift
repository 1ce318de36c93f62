import JSON
import MatrixModel

/// Writes the fields of notes, and of what nodes tell each other.
package struct NoteWriter {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func write(_ integer: Int64) { write(unsigned: UInt64(bitPattern: integer)) }
  package mutating func write(_ room: RoomNumber) { write(room.value) }
  package mutating func write(count: Int) { write(unsigned: UInt64(count)) }

  package mutating func write(_ text: [UInt8]) {
    write(count: text.count)
    bytes += text
  }

  package mutating func write(_ identifier: some Identifier) { write(identifier.text.utf8) }

  package mutating func write(_ identifiers: [some Identifier]) {
    write(count: identifiers.count)
    for identifier in identifiers { write(identifier) }
  }

  private mutating func write(unsigned value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads the fields of notes: nil for what is not there or not well-formed, whatever the bytes are.
package struct NoteReader {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  package var isAtEnd: Bool { rest.isEmpty }

  package mutating func byte() -> UInt8? { rest.popFirst() }

  /// A number of things that are not in the bytes.
  package mutating func number() -> Int? { unsigned().flatMap { Int(exactly: $0) } }

  package mutating func integer() -> Int64? { unsigned().map { Int64(bitPattern: $0) } }

  package mutating func room() -> RoomNumber? { integer().map { RoomNumber($0) } }

  package mutating func bytes() -> ArraySlice<UInt8>? {
    guard let count = count() else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func text() -> ByteString? { bytes().map { ByteString(decoding: $0) } }

  package mutating func identifier<ID: Identifier>() -> ID? { text().map { ID(trusted: $0) } }

  package mutating func identifiers<ID: Identifier>() -> [ID]? { list { $0.identifier() } }

  package mutating func integers() -> [Int64]? { list { $0.integer() } }

  private mutating func list<Element>(_ element: (inout NoteReader) -> Element?) -> [Element]? {
    guard let count = count() else { return nil }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count {
      guard let next = element(&self) else { return nil }
      elements.append(next)
    }
    return elements
  }

  /// Of bytes, or of elements of at least a byte: no more than there are.
  private mutating func count() -> Int? {
    guard let value = unsigned(), value <= UInt64(rest.count) else { return nil }
    return Int(value)
  }

  /// In as few bytes as it takes, so that a note has one form.
  private mutating func unsigned() -> UInt64? {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let next = rest.popFirst() {
      guard shift < 63 || next <= 1 else { return nil }
      value |= UInt64(next & 0x7F) << shift
      if next & 0x80 == 0 { return next == 0 && shift > 0 ? nil : value }
      shift += 7
    }
    return nil
  }
}
