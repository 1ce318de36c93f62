import CallClient

/// A STUN or TURN URI (RFC 7064, RFC 7065) in the words of webrtcbin.
struct ICEAddress {
  private let scheme: Substring
  private let authority: Substring
  private let query: Substring

  /// Returns nil if it is not valid.
  init?(_ uri: String) {
    guard let colon = uri.firstIndex(of: ":") else { return nil }
    scheme = uri[..<colon]
    let rest = uri[uri.index(after: colon)...]
    guard ["stun", "turn", "turns"].contains(scheme), !rest.isEmpty, !rest.contains(where: { $0 == "/" || $0 == "@" }) else {
      return nil
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    authority = parts[0]
    query = parts.count > 1 ? parts[1] : ""
  }

  var stun: String? { scheme == "stun" ? "stun://" + authority : nil }

  /// With its name and password; nil where it is no relay.
  func relay(_ server: ICEServer) -> String? {
    guard scheme != "stun", let name = server.username, let password = server.credential else { return nil }
    let address = "\(scheme)://\(Self.escaped(name)):\(Self.escaped(password))@\(authority)"
    return query.isEmpty ? address : address + "?" + query
  }

  /// All but unreserved characters as `%XX`. RFC 3986 §2.
  private static func escaped(_ text: ByteString) -> String {
    text.utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      if byte < 128, character.isLetter || character.isNumber || "-._~".contains(character) { return String(character) }
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count < 2 ? "%0" + digits : "%" + digits
    }.joined()
  }
}
