import CPrimitives

/// AES-256-CTR over bytes that come in parts, for attachments and key files. Encrypting and decrypting are the same. It does not
/// authenticate: that takes a hash or a MAC beside it.
package struct CounterCipher: Sendable {
  package static let keyByteCount = 32, counterByteCount = 16

  private let key: Secret
  private let counter: [UInt8]
  private var position: UInt64 = 0

  /// nil unless the key has 32 bytes and the first counter 16.
  package init?(key: Secret, counter: [UInt8]) {
    guard key.count == Self.keyByteCount, counter.count == Self.counterByteCount else { return nil }
    self.init(checkedKey: key, counter: counter)
  }

  init(checkedKey key: Secret, counter: [UInt8]) {
    self.key = key
    self.counter = counter
  }

  /// Encrypts or decrypts the next bytes in place. Parts whose size is a multiple of 16 need no copy.
  package mutating func apply(to bytes: inout [UInt8]) {
    let offset = Int(position % 16)
    let start = Self.add(position / 16, to: counter)
    position &+= UInt64(bytes.count)
    guard offset > 0 else { return primitives_aes256_ctr(&bytes, bytes.count, key.start, start) }
    var padded = [UInt8](repeating: 0, count: offset) + bytes
    primitives_aes256_ctr(&padded, padded.count, key.start, start)
    bytes = [UInt8](padded[offset...])
  }

  private static func add(_ blocks: UInt64, to counter: [UInt8]) -> [UInt8] {
    var sum = counter
    var carry = blocks
    for index in sum.indices.reversed() where carry > 0 {
      carry += UInt64(sum[index])
      sum[index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    return sum
  }
}
