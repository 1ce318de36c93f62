import CPrimitives

extension Secret {
  /// Derives at most 8,160 bytes by HKDF with SHA-256. The salt is 32 zeros if there is none. RFC 5869.
  package func derived(_ count: Int, info: [UInt8], salt: Secret? = nil) -> Secret {
    Secret(count: count) { [self] in
      primitives_hkdf_sha256($0, count, salt?.start, salt?.count ?? 0, start, self.count, info, info.count)
    }
  }

  /// Returns the HMAC-SHA-256 of a message under this key, which is no secret. RFC 2104.
  package func tag(of message: [UInt8]) -> [UInt8] {
    var tag = [UInt8](repeating: 0, count: 32)
    primitives_hmac_sha256(&tag, start, count, message, message.count)
    return tag
  }

  /// Returns the HMAC of one byte as a new secret: a step of a ratchet.
  func advanced(by byte: UInt8) -> Secret {
    Secret(count: 32) { [self] next in
      withUnsafePointer(to: byte) { primitives_hmac_sha256(next, start, count, $0, 1) }
    }
  }
}
