import CMemcheck
import Olm

/// What valgrind takes for secret.
enum Shadow {
  /// Bytes that are secret from the beginning; others for each seed.
  static func bytes(_ count: Int, _ seed: UInt8) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ Int(seed) &* 101 &+ 11) }
    bytes.withUnsafeBytes { memcheck_make_secret($0.baseAddress, $0.count) }
    return bytes
  }

  static func secret(_ count: Int = 32, _ seed: UInt8 = 1) -> Secret { Secret(bytes(count, seed)) }

  /// A source whose secrets all depend on a secret.
  static func source(_ seed: UInt8) -> SecretSource { .repeating(seed: bytes(32, seed)) }

  /// Says that the bytes are public, such as what goes to the server.
  @discardableResult
  static func publish(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { memcheck_make_public($0.baseAddress, $0.count) }
    return bytes
  }

  @discardableResult
  static func publish(_ key: Curve25519Key) -> Curve25519Key {
    publish(key.bytes)
    return key
  }

  @discardableResult
  static func publish(_ key: Ed25519Key) -> Ed25519Key {
    publish(key.bytes)
    return key
  }

  static func publish(_ message: OlmMessage) -> OlmMessage {
    publish(message.body)
    return message
  }
}
