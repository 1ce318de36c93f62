import CPrimitives

/// A SHA-256 of bytes that come in parts, such as those of a file.
package struct SHA256: Sendable {
  private var state = primitives_sha256()

  package init() { primitives_sha256_begin(&state) }

  package mutating func add(_ bytes: [UInt8]) { primitives_sha256_add(&state, bytes, bytes.count) }

  /// The hash of the bytes added so far. More may follow.
  package var digest: [UInt8] {
    var state = state
    var digest = [UInt8](repeating: 0, count: 32)
    primitives_sha256_end(&state, &digest)
    return digest
  }

  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.add(bytes)
    return hash.digest
  }
}
