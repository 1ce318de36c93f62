/// Writes a message: the version, then fields with their tags.
struct FieldWriter {
  private(set) var message: [UInt8]

  init(version: UInt8) { message = [version] }

  mutating func write(tag: UInt8, _ number: UInt32) {
    message.append(tag)
    append(number)
  }

  /// At most 4 GiB, far above `MessageLimits`.
  mutating func write(tag: UInt8, _ bytes: [UInt8]) {
    message.append(tag)
    append(UInt32(bytes.count))
    message.append(contentsOf: bytes)
  }

  private mutating func append(_ number: UInt32) {
    var rest = number
    while rest >= 0x80 {
      message.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    message.append(UInt8(rest))
  }
}
