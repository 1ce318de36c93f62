/// An e-mail address of the everyday kind, in its canonical form.
///
/// RFC 5321 §4.1.2 without quoted local parts, address literals and comments, ASCII only. Upper case becomes lower case.
/// Spec: Appendices, "3PID Types".
package struct MailAddress: Sendable, Hashable, CustomStringConvertible {
  package let description: String

  /// Bytes of an address: RFC 5321 §4.5.3.1.3 without the angle brackets.
  package static let bytesLimit = 254

  /// nil for what is no such address.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.bytesLimit, let at = bytes.lastIndex(of: UInt8(ascii: "@")),
      Self.isLocalPart(bytes[..<at]), Self.isDomain(bytes[(at + 1)...])
    else { return nil }
    description = String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// What comes after the @.
  package var domain: String { String(description.split(separator: "@").last ?? "") }

  /// RFC 5321: `Dot-string`, of at most 64 bytes.
  private static func isLocalPart(_ bytes: ArraySlice<UInt8>) -> Bool {
    let atoms = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return bytes.count <= 64
      && atoms.allSatisfy { atom in
        !atom.isEmpty && atom.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
      }
  }

  private static func isDomain(_ bytes: ArraySlice<UInt8>) -> Bool {
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }
}
