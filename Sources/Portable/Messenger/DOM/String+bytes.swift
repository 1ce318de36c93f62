// Bytes in an array: the views of a `String` bring the rules of characters and their tables along.
extension String {
  /// Without ASCII white space and control characters at both ends.
  package var trimmed: String {
    let bytes = Array(utf8)
    guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 }) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// FNV-1a over the bytes.
  var hash32: UInt32 {
    var text = self
    return text.withUTF8 { bytes in
      var hash: UInt32 = 2_166_136_261
      for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
      return hash
    }
  }

  /// Equality of bytes. `==` would be canonical equivalence and link Unicode tables.
  public func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    var (one, other) = (self, other)
    return one.withUTF8 { bytes in other.withUTF8 { bytes.elementsEqual($0) } }
  }
}
