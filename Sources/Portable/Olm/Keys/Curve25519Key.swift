/// The public key of an agreement. Any 32 bytes are one; those of small order are refused when they are used.
package struct Curve25519Key: Equatable, Hashable, Sendable {
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// nil unless there are 32 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// There are 32 bytes.
  init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// As keys are written in events: unpadded base64.
  package var text: [UInt8] { Base64.encode(bytes) }
}
