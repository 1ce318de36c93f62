import ClientCore
import JSON

/// The form of a batch in the file, see `FileStore`.
enum JournalBatch {
  static func bytes(of operations: [StoreOperation]) -> [UInt8] {
    var body: [UInt8] = []
    for operation in operations {
      switch operation {
      case .put(let key, let value):
        body.append(0)
        append(Array(key.utf8), to: &body)
        append(value, to: &body)
      case .delete(let key):
        body.append(1)
        append(Array(key.utf8), to: &body)
      case .deleteAll(let prefix):
        body.append(2)
        append(Array(prefix.utf8), to: &body)
      }
    }
    return little(UInt64(body.count), bytes: 4) + little(checksum(body[...]), bytes: 8) + body
  }

  /// The batch at `position`, which moves behind it; nil where none is whole.
  static func read(_ bytes: [UInt8], _ position: inout Int) -> [StoreOperation]? {
    var i = position
    guard let count = number(bytes, &i, bytes: 4), let sum = number(bytes, &i, bytes: 8),
      count <= UInt64(bytes.count - i)
    else { return nil }
    let end = i + Int(count)
    guard checksum(bytes[i..<end]) == sum else { return nil }
    var operations: [StoreOperation] = []
    while i < end {
      let kind = bytes[i]
      i += 1
      guard let key = text(bytes, &i, end) else { return nil }
      switch kind {
      case 0:
        guard let value = text(bytes, &i, end) else { return nil }
        operations.append(.put(key: ByteString(decoding: key), value: Array(value)))
      case 1: operations.append(.delete(key: ByteString(decoding: key)))
      case 2: operations.append(.deleteAll(prefix: ByteString(decoding: key)))
      default: return nil
      }
    }
    position = end
    return operations
  }

  private static func append(_ text: [UInt8], to body: inout [UInt8]) {
    body += little(UInt64(text.count), bytes: 4)
    body += text
  }

  private static func text(_ bytes: [UInt8], _ i: inout Int, _ end: Int) -> ArraySlice<UInt8>? {
    guard let count = number(bytes, &i, bytes: 4), i <= end, count <= UInt64(end - i) else { return nil }
    defer { i += Int(count) }
    return bytes[i..<(i + Int(count))]
  }

  private static func little(_ value: UInt64, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  private static func number(_ bytes: [UInt8], _ i: inout Int, bytes count: Int) -> UInt64? {
    guard bytes.count - i >= count else { return nil }
    defer { i += count }
    return (0..<count).reduce(0) { $0 | UInt64(bytes[i + $1]) << UInt64(8 * $1) }
  }

  /// FNV-1a, 64 bits.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
