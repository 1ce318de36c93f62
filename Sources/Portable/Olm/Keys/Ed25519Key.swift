import CPrimitives

/// A key that checks signatures.
package struct Ed25519Key: Equatable, Hashable, Sendable {
  package static let byteCount = 32, signatureByteCount = 64

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

  /// Strict: a key of small order signs nothing, and a message has no second signature made of the first.
  package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    signature.count == Self.signatureByteCount && primitives_ed25519_verify(signature, message, message.count, bytes) == 1
  }
}
