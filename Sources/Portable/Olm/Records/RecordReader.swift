/// Reads the records of `RecordWriter`. A record may be damaged: each count has a limit, and left-over bytes are an error.
struct RecordReader {
  private let record: Secret
  private var next = 0

  init(_ record: Secret, _ kind: RecordKind) throws(OlmError) {
    self.record = record
    guard try byte() == kind.rawValue else { throw .malformed }
    guard try byte() == kind.version else { throw .unknownVersion }
  }

  mutating func byte() throws(OlmError) -> UInt8 {
    guard next < record.count else { throw .malformed }
    next += 1
    return record.start[next - 1]
  }

  mutating func flag() throws(OlmError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw .malformed
    }
  }

  mutating func number<Number: FixedWidthInteger & UnsignedInteger>() throws(OlmError) -> Number {
    var number: Number = 0
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) { number |= Number(try byte()) << Number(shift) }
    return number
  }

  mutating func secret(_ count: Int) throws(OlmError) -> Secret {
    guard count <= record.count - next else { throw .malformed }
    next += count
    return record.part(next - count..<next)
  }

  mutating func curve25519Key() throws(OlmError) -> Curve25519Key {
    Curve25519Key(checked: try secret(Curve25519Key.byteCount).exposed())
  }

  mutating func ed25519Key() throws(OlmError) -> Ed25519Key {
    Ed25519Key(checked: try secret(Ed25519Key.byteCount).exposed())
  }

  mutating func curve25519KeyPair() throws(OlmError) -> Curve25519KeyPair {
    guard let pair = Curve25519KeyPair(try secret(Curve25519Key.byteCount)) else { throw .malformed }
    return pair
  }

  mutating func ed25519KeyPair() throws(OlmError) -> Ed25519KeyPair {
    guard let pair = Ed25519KeyPair(seed: try secret(Ed25519Key.byteCount)) else { throw .malformed }
    return pair
  }

  mutating func list<Element>(
    limit: Int, _ readElement: (inout RecordReader) throws(OlmError) -> Element
  ) throws(OlmError) -> [Element] {
    let count = Int(try byte())
    guard count <= limit else { throw .malformed }
    var list: [Element] = []
    for _ in 0..<count { list.append(try readElement(&self)) }
    return list
  }

  mutating func optional<Value>(
    _ readValue: (inout RecordReader) throws(OlmError) -> Value
  ) throws(OlmError) -> Value? {
    try flag() ? try readValue(&self) : nil
  }

  func end() throws(OlmError) {
    guard next == record.count else { throw .malformed }
  }
}
