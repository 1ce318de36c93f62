/// Writes a record in this module's own format: a byte for the kind, one for the version, then fields. Numbers are little-endian.
/// The bytes stay in a `Secret` while the record grows.
struct RecordWriter {
  private var bytes = Secret(count: 256) { _ in }
  private var count = 0

  init(_ kind: RecordKind) {
    write(kind.rawValue)
    write(kind.version)
  }

  var record: Secret { bytes.part(0..<count) }

  mutating func write(_ byte: UInt8) { append(1) { $0.pointee = byte } }
  mutating func write(_ flag: Bool) { write(flag ? 1 : 0 as UInt8) }

  mutating func write<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) { write(UInt8(truncatingIfNeeded: number >> Number(shift))) }
  }

  /// Writes the bytes only: the reader knows their count.
  mutating func write(_ secret: Secret) { append(secret.count) { $0.update(from: secret.start, count: secret.count) } }

  mutating func write(_ key: Curve25519Key) {
    for byte in key.bytes { write(byte) }
  }

  mutating func write(_ key: Ed25519Key) {
    for byte in key.bytes { write(byte) }
  }

  /// Writes the count as a byte. Every list has a limit below 256.
  mutating func write<Element>(_ list: [Element], _ writeElement: (inout RecordWriter, Element) -> Void) {
    write(UInt8(truncatingIfNeeded: list.count))
    for element in list { writeElement(&self, element) }
  }

  mutating func write<Value>(_ value: Value?, _ writeValue: (inout RecordWriter, Value) -> Void) {
    write(value != nil)
    if let value { writeValue(&self, value) }
  }

  private mutating func append(_ more: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
    if count + more > bytes.count {
      let (smaller, used) = (bytes, count)
      bytes = Secret(count: max(2 * smaller.count, used + more)) { $0.update(from: smaller.start, count: used) }
    }
    fill(bytes.start + count)
    count += more
  }
}
