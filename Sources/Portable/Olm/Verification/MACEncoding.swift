/// How a verification's MAC becomes text. Spec: Client-Server API, "SAS HKDF calculation".
package enum MACEncoding: Sendable {
  /// `hkdf-hmac-sha256.v2`: unpadded base64.
  case base64
  /// `hkdf-hmac-sha256`, which the specification deprecates and older clients still need. libolm wrote the text over the bytes it was
  /// reading, so that only the first bytes of each MAC count: 48 bits of them.
  case overwritten

  func text(of tag: [UInt8]) -> [UInt8] {
    switch self {
    case .base64: Base64.encode(tag)
    case .overwritten: Self.overwriting(tag)
    }
  }

  /// Three bytes are read at a time, and four letters written, all in the same place.
  private static func overwriting(_ tag: [UInt8]) -> [UInt8] {
    var text = tag
    for group in 0..<(tag.count + 2) / 3 {
      let bytes = text[min(3 * group, tag.count)..<min(3 * group + 3, tag.count)]
      let letters = Base64.encode(Array(bytes))
      text.replaceSubrange(4 * group..<min(4 * group + letters.count, text.count), with: letters)
    }
    return text
  }
}
