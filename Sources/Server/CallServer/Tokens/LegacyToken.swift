import HTTPServer
import JSON
import RoomRules
import ServerAccounts
import ServerCore

/// Tokens of old server SDKs: `T1==` and the Base64 of `partner_id=KEY&sig=HMAC:FORM`, where the HMAC is the hexadecimal HMAC-SHA1 of the form
/// under the project's secret.
enum LegacyToken {
  static let prefix: StaticString = "T1=="

  static func claims(
    of text: ByteString, project: ProjectID, secret: [UInt8], now: Int64
  ) throws(ConnectionToken.Refusal) -> TokenClaims {
    guard text.count <= JSONWebToken.bytesLimit, let content = UnpaddedBase64.decode(text.utf8.dropFirst(4)),
      let colon = content.firstIndex(of: UInt8(ascii: ":"))
    else { throw .malformed }
    let (head, body) = (Query(content[..<colon]), content[(colon + 1)...])
    guard let partner = head["partner_id"], let signature = head["sig"] else { throw .malformed }
    guard ByteString(partner) == project.text else { throw .wrongProject }
    let expected = KeyedHash.hexadecimal(KeyedHash.sha1.digest(of: Array(body), key: secret))
    guard KeyedHash.areSame(Array(signature.utf8), Array(expected.utf8)) else { throw .wrongSignature }
    return try claims(of: Query(body), signed: Array(body), now: now)
  }

  private static func claims(of form: Query, signed: [UInt8], now: Int64) throws(ConnectionToken.Refusal) -> TokenClaims {
    guard !form.isMalformed, let session = form["session_id"], let created = milliseconds(form["create_time"]) else {
      throw .malformed
    }
    let leeway = JSONWebToken.leewaySeconds * 1_000
    guard created <= now + leeway else { throw .notYetValid }
    var claims = TokenClaims(session: ByteString(session), signed: signed)
    if let end = form["expire_time"], !end.isEmpty {
      guard let milliseconds = milliseconds(end) else { throw .malformed }
      claims.end = milliseconds
    } else {
      claims.end = created + CallLimits.tokenDefaultMilliseconds
    }
    guard now - leeway < claims.end ?? 0 else { throw .expired }
    claims.role = form["role"].map { ByteString($0) }
    claims.data = ByteString(form["connection_data"] ?? "")
    claims.layoutClasses = ByteString(form["initial_layout_class_list"] ?? "")
    return claims
  }

  /// Of whole seconds since 1970, within reason.
  private static func milliseconds(_ text: String?) -> Int64? {
    guard let text, let seconds = Int64(text), (0..<1 << 40).contains(seconds) else { return nil }
    return seconds * 1_000
  }
}
