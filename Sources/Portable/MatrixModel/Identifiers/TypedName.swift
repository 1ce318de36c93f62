import JSON

/// A user name as people type it, or their phone for them: `Alice`, ` alice `, `@alice`, `@Alice:example.org`.
public enum TypedName {
  /// The name or user ID that is meant: small letters up to the server's name, no blanks around it, no `@` before a bare name.
  ///
  /// Names of accounts have no capitals. Spec: Appendices, "User Identifiers".
  public static func meant(by text: ByteString) -> ByteString {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    var bytes = Array(text.utf8.drop(while: isBlank))
    while bytes.last.map(isBlank) ?? false { bytes.removeLast() }
    let end = bytes.firstIndex(of: UInt8(ascii: ":"))
    for i in 0..<(end ?? bytes.count) where bytes[i] &- 65 < 26 { bytes[i] |= 0x20 }
    if end == nil, bytes.first == UInt8(ascii: "@") { bytes.removeFirst() }
    return ByteString(decoding: bytes)
  }
}
