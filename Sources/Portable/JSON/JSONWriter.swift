/// Builds JSON bytes in one growing buffer; commas come by themselves.
///
///     var writer = JSONWriter()
///     writer.object { writer in
///       writer.member("user_id", userID)
///       writer.key("rooms"); writer.array { for room in rooms { $0.write(room) } }
///     }
///
/// The caller keeps keys and values in turn; nothing checks it. Bytes spliced in (`raw`) must be one JSON value.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8]
  private var needsComma = false

  public init(capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  // MARK: Containers

  @inlinable
  public mutating func object<E: Error>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
    beginObject()
    try body(&self)
    endObject()
  }

  @inlinable
  public mutating func array<E: Error>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
    beginArray()
    try body(&self)
    endArray()
  }

  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  // MARK: Keys

  /// A key that needs no escapes.
  public mutating func key(_ key: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  @_disfavoredOverload
  public mutating func key(_ key: ByteString) {
    write(key)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: Values

  public mutating func write(_ value: String) { write(ByteString(value)) }

  public mutating func write(_ value: ByteString) {
    comma()
    value.withBytes { quote($0) }
  }

  public mutating func write(_ value: Bool) {
    comma()
    append(value ? "true" : "false")
  }

  public mutating func write(_ value: Int64) {
    comma()
    decimal(value)
  }

  public mutating func write(_ value: Int) { write(Int64(value)) }

  public mutating func write(_ value: JSON) { raw(value.bytes) }

  public mutating func null() {
    comma()
    append("null")
  }

  /// Splices one ready JSON value.
  public mutating func raw(_ value: [UInt8]) {
    comma()
    bytes.append(contentsOf: value)
  }

  /// Splices one ready JSON value.
  public mutating func raw(_ value: ArraySlice<UInt8>) {
    comma()
    bytes.append(contentsOf: value)
  }

  /// Splices ready members (`"a":1,"b":2`, at least one) into the open object.
  public mutating func rawMembers(_ members: [UInt8]) { raw(members) }

  // MARK: Members

  public mutating func member(_ key: StaticString, _ value: String) {
    self.key(key)
    write(value)
  }

  public mutating func member(_ key: StaticString, _ value: ByteString) {
    self.key(key)
    write(value)
  }

  public mutating func member(_ key: StaticString, _ value: Bool) {
    self.key(key)
    write(value)
  }

  public mutating func member(_ key: StaticString, _ value: Int64) {
    self.key(key)
    write(value)
  }

  public mutating func member(_ key: StaticString, _ value: Int) { member(key, Int64(value)) }

  public mutating func member(_ key: StaticString, _ value: JSON) {
    self.key(key)
    write(value)
  }

  public mutating func member(_ key: StaticString, raw value: [UInt8]) {
    self.key(key)
    raw(value)
  }

  /// A member that is an array: `body` writes one value for each element.
  @inlinable
  public mutating func array<Elements: Sequence>(
    _ key: StaticString, _ elements: Elements, _ body: (Elements.Element, inout JSONWriter) -> Void
  ) {
    self.key(key)
    beginArray()
    for element in elements { body(element, &self) }
    endArray()
  }

  // MARK: Bytes

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  // Calls in the page's program too, for containers are opened and closed all over it.

  @inline(never)
  private mutating func open(_ bracket: UInt8) {
    comma()
    bytes.append(bracket)
    needsComma = false
  }

  @inline(never)
  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func decimal(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    bytes[start...].reverse()
  }

  /// The shortest form that canonical JSON asks for: only quote, backslash and controls are escaped.
  private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var copied = 0
    for i in Self.plainCount(text)..<text.count {
      let byte = text[i]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied..<i]))
      copied = i + 1
      escape(byte)
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied...]))
    bytes.append(UInt8(ascii: "\""))
  }

  /// How many bytes at the beginning need no look, by eights: nearly all of an identifier.
  private static func plainCount(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    guard let start = UnsafeRawPointer(text.baseAddress) else { return 0 }
    var count = 0
    while count &+ 8 <= text.count,
      JSONParser.bytesToInspect((start + count).loadUnaligned(as: UInt64.self)) == 0
    {
      count &+= 8
    }
    return count
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    default:
      append("\\u00")
      for digit in [byte >> 4, byte & 15] {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
  }
}
