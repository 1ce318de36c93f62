/// The public key in an X.509 certificate, read only as far as needed for that. RFC 5280 §4.1, in DER (ITU-T X.690).
enum CertificateKey {
  /// The whole SubjectPublicKeyInfo, tag and length included: what pins are the SHA-256 of. nil where the bytes are no certificate.
  static func publicKey(inDER certificate: [UInt8]) -> [UInt8]? {
    // Certificate ::= SEQUENCE { tbsCertificate SEQUENCE { [0] version OPTIONAL, serialNumber, signature, issuer, validity,
    // subject, subjectPublicKeyInfo, … } … }
    guard let outer = element(certificate[...]), outer.tag == sequence, let inner = element(outer.content),
      inner.tag == sequence
    else { return nil }
    var rest = inner.content
    var fields: [Element] = []
    while fields.count < 6, let field = element(rest) {
      rest = field.rest
      if !(fields.isEmpty && field.tag == version) { fields.append(field) }
    }
    guard fields.count == 6, fields[5].tag == sequence else { return nil }
    return Array(fields[5].whole)
  }

  private static let sequence: UInt8 = 0x30
  private static let version: UInt8 = 0xA0

  private struct Element {
    let tag: UInt8
    let whole: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>
  }

  /// The first element; nil where it is cut short or its length does not fit into four bytes.
  private static func element(_ bytes: ArraySlice<UInt8>) -> Element? {
    guard bytes.count >= 2 else { return nil }
    let first = bytes[bytes.startIndex + 1]
    var header = 2
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
      length = bytes.dropFirst(2).prefix(count).reduce(0) { $0 << 8 | Int($1) }
      header += count
    }
    guard bytes.count - header >= length else { return nil }
    let end = bytes.startIndex + header + length
    return Element(
      tag: bytes[bytes.startIndex], whole: bytes[..<end], content: bytes[(bytes.startIndex + header)..<end],
      rest: bytes[end...])
  }
}
