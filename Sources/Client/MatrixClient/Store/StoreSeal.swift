import CSodium
import ClientCore
import JSON

/// Seals the values of a store's records, so that copies of its file say nothing of what is in it but how much there is.
///
/// XChaCha20-Poly1305: its nonces are so long that random ones never repeat. A value is bound to its record's key: no record can stand for another.
final class StoreSeal: Sendable {
  static let keyByteCount = 32
  private static let version: UInt8 = 1, nonceByteCount = 24, tagByteCount = 16
  static let addedByteCount = 1 + nonceByteCount + tagByteCount

  /// Written in `init` only, so that threads may share it; overwritten at the end.
  private nonisolated(unsafe) let key: UnsafeMutablePointer<UInt8>

  /// - Parameter key: 32 bytes.
  init(key bytes: [UInt8]) {
    precondition(bytes.count == Self.keyByteCount, "a key has 32 bytes")
    key = .allocate(capacity: Self.keyByteCount)
    key.initialize(from: bytes, count: Self.keyByteCount)
  }

  deinit {
    sodium_memzero(key, Self.keyByteCount)
    key.deallocate()
  }

  func seal(_ value: [UInt8], of record: [UInt8]) -> [UInt8] {
    let start = 1 + Self.nonceByteCount
    return [UInt8](unsafeUninitializedCapacity: value.count + Self.addedByteCount) { buffer, count in
      guard let bytes = buffer.baseAddress else { return }
      bytes[0] = Self.version
      randombytes_buf(bytes + 1, Self.nonceByteCount)
      crypto_aead_xchacha20poly1305_ietf_encrypt(
        bytes + start, nil, value, UInt64(value.count), record, UInt64(record.count), nil, bytes + 1, key)
      count = value.count + Self.addedByteCount
    }
  }

  /// nil where it was not sealed with this key, or for another record, or was changed since.
  func open(_ sealed: UnsafeRawBufferPointer, of record: UnsafeRawBufferPointer) -> [UInt8]? {
    guard Self.isSealed(sealed), let bytes = sealed.bindMemory(to: UInt8.self).baseAddress else { return nil }
    let start = 1 + Self.nonceByteCount
    var isRight = false
    let value = [UInt8](unsafeUninitializedCapacity: max(1, sealed.count - Self.addedByteCount)) { buffer, count in
      isRight =
        crypto_aead_xchacha20poly1305_ietf_decrypt(
          buffer.baseAddress, nil, nil, bytes + start, UInt64(sealed.count - start),
          record.bindMemory(to: UInt8.self).baseAddress, UInt64(record.count), bytes + 1, key) == 0
      count = isRight ? sealed.count - Self.addedByteCount : 0
    }
    return isRight ? value : nil
  }

  /// Other values are JSON, which does not begin so.
  static func isSealed(_ value: UnsafeRawBufferPointer) -> Bool { value.count >= addedByteCount && value[0] == version }
}
