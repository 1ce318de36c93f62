/// Reads the fields of a message: each a number with its tag, then a number or bytes.
///
/// Spec: "Olm: A Cryptographic Ratchet", "Normal Messages". Fields with other tags are skipped, and of two with the same tag the last one
/// counts, as in other implementations.
struct FieldReader {
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  private let message: [UInt8]
  private var next: Int
  private let end: Int

  /// The range lies within the message.
  init(_ message: [UInt8], in range: Range<Int>) {
    self.message = message
    next = range.lowerBound
    end = range.upperBound
  }

  /// nil at the end.
  mutating func field() throws(OlmError) -> (tag: UInt64, value: Value)? {
    guard next < end else { return nil }
    let tag = try number()
    // The lowest three bits tell the kind of the value.
    switch tag & 7 {
    case 0: return (tag: tag, value: .number(try number()))
    case 2:
      let count = try number()
      guard count <= UInt64(end - next) else { throw .malformed }
      let start = next
      next += Int(count)
      return (tag: tag, value: .bytes(message[start..<next]))
    default: throw .malformed
    }
  }

  /// Seven bits a byte, the lowest first; each byte but the last has its highest bit set.
  private mutating func number() throws(OlmError) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while next < end, shift < 63 {
      let byte = message[next]
      next += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw .malformed
  }
}

extension FieldReader.Value {
  func curve25519Key() throws(OlmError) -> Curve25519Key {
    guard let key = Curve25519Key([UInt8](try bytes())) else { throw .malformed }
    return key
  }

  func bytes() throws(OlmError) -> ArraySlice<UInt8> {
    guard case .bytes(let bytes) = self else { throw .malformed }
    return bytes
  }

  /// An index of a chain or of Megolm's ratchet.
  func index() throws(OlmError) -> UInt32 {
    guard case .number(let number) = self, number <= UInt64(UInt32.max) else { throw .malformed }
    guard number < UInt64(UInt32.max) else { throw .exhausted }
    return UInt32(number)
  }
}
