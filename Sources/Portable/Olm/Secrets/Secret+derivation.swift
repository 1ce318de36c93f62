import CPrimitives

extension Secret {
  /// HKDF with SHA-256. At most 8,160 bytes. Without a salt, it is 32 zeros. RFC 5869.
  package func derived(_ count: Int, info: [UInt8], salt: Secret? = nil) -> Secret {
    Secret(count: count) { [self] in
      primitives_hkdf_sha256($0, count, salt?.start, salt?.count ?? 0, start, self.count, info, info.count)
    }
  }

  /// HMAC with SHA-256 and this key, which anyone may see. RFC 2104.
  package func tag(of message: [UInt8]) -> [UInt8] {
    var tag = [UInt8](repeating: 0, count: 32)
    primitives_hmac_sha256(&tag, start, count, message, message.count)
    return tag
  }

  /// The HMAC of one byte as a new secret: how ratchets advance.
  func advanced(by byte: UInt8) -> Secret {
    Secret(count: 32) { [self] next in
      withUnsafePointer(to: byte) { primitives_hmac_sha256(next, start, count, $0, 1) }
    }
  }
}
