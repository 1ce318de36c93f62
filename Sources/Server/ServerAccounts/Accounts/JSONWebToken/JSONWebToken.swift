import JSON
import MatrixModel
import RoomRules
import ServerCore

/// A signed set of claims whose signature was verified: there is no other way to get one. RFC 7519, in the compact form of
/// RFC 7515.
///
/// The algorithm is a property of the key, never of the token: `none`, and an HMAC made with a public key, are refused like any
/// other token that names another algorithm than its key.
package struct JSONWebToken: Sendable {
  /// Claims as the issuer wrote them.
  package let claims: JSON

  /// Bytes of a token in its text form.
  package static let bytesLimit = 16 << 10
  /// Seconds by which the issuer's clock may differ from ours.
  package static let leewaySeconds: Int64 = 60

  /// Why a token was refused; says nothing of its content.
  package enum Refusal: Error, Equatable, Sendable {
    case malformed, wrongAlgorithm, unknownKey, wrongSignature
    case expired, notYetValid, withoutExpiry, wrongIssuer, wrongAudience
  }

  /// What the claims must say.
  package struct Expectation: Sendable {
    /// nil takes any issuer.
    package var issuer: ByteString?
    /// One of these must be among the token's; empty takes any.
    package var audiences: [ByteString] = []
    /// Whether a token without `exp` is refused.
    package var needsExpiry = true

    package init() {}
  }

  /// Verifies the signature with the one of `keys` that fits, then the claims.
  ///
  /// - Parameters:
  ///   - keys: where the token names a key (`kid`), only keys of this name or without any are tried.
  ///   - now: milliseconds since 1970.
  package init(
    verifying text: ByteString, with keys: [JSONWebKey], _ expectation: Expectation, now: Int64
  ) throws(Refusal) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.count <= Self.bytesLimit, parts.count == 3, let signature = Self.decode(parts[2]) else { throw .malformed }
    let header = try Self.object(parts[0])
    // No extension is known here, so a token with a critical extension is refused. RFC 7515 §4.1.11.
    guard header["crit"] == nil, let algorithm = header["alg"]?.string else { throw .malformed }
    let fitting = keys.filter { $0.algorithm.rawValue == algorithm }
    guard !fitting.isEmpty else { throw .wrongAlgorithm }
    let named = Self.named(header["kid"]?.text, of: fitting)
    guard !named.isEmpty else { throw .unknownKey }
    let message = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    guard named.contains(where: { $0.verifies(signature, of: message) }) else { throw .wrongSignature }
    claims = try Self.object(parts[1])
    try check(expectation, nowSeconds: now / 1_000)
  }

  /// Who a token says has issued it, to find the key that it must be verified with. Nothing else may follow from it.
  package static func claimedIssuer(of text: ByteString) -> ByteString? {
    guard text.count <= bytesLimit else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    return (try? object(parts[1]))?["iss"]?.text
  }

  /// A token signed with HS256.
  ///
  /// - Parameter claims: a JSON object.
  package static func signed(_ claims: [UInt8], secret: [UInt8]) -> ByteString {
    let header = Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
    let message = UnpaddedBase64.encode(header, .urlSafe) + [UInt8(ascii: ".")] + UnpaddedBase64.encode(claims, .urlSafe)
    let signature = KeyedHash.sha256.digest(of: message, key: secret)
    return ByteString(decoding: message + [UInt8(ascii: ".")] + UnpaddedBase64.encode(signature, .urlSafe))
  }

  private func check(_ expectation: Expectation, nowSeconds now: Int64) throws(Refusal) {
    let expiry = try Self.seconds(claims["exp"])
    if expiry == nil, expectation.needsExpiry { throw .withoutExpiry }
    if let expiry, now - Self.leewaySeconds >= expiry { throw .expired }
    for start in [try Self.seconds(claims["nbf"]), try Self.seconds(claims["iat"])] {
      if let start, now + Self.leewaySeconds < start { throw .notYetValid }
    }
    if let issuer = expectation.issuer, claims["iss"]?.text != issuer { throw .wrongIssuer }
    guard !expectation.audiences.isEmpty else { return }
    var audiences: [ByteString] = []
    if let audience = claims["aud"]?.text { audiences.append(audience) }
    if claims["aud"]?.isArray == true { for element in claims["aud"]!.elements { element.text.map { audiences.append($0) } } }
    guard audiences.contains(where: expectation.audiences.contains) else { throw .wrongAudience }
  }

  private static func named(_ name: ByteString?, of keys: [JSONWebKey]) -> [JSONWebKey] {
    guard let name else { return keys }
    return keys.filter { $0.keyID == nil || $0.keyID == name }
  }

  /// A NumericDate: seconds since 1970, a fraction cut off. RFC 7519 §2.
  package static func seconds(_ value: JSON?) throws(Refusal) -> Int64? {
    guard let value else { return nil }
    if let integer = value.integer { return integer }
    let whole = value.bytes.prefix { $0 != UInt8(ascii: ".") }
    let fraction = value.bytes.dropFirst(whole.count + 1)
    guard value.kind == .number, fraction.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let seconds = Int64(String(decoding: whole, as: UTF8.self))
    else { throw .malformed }
    return seconds
  }

  private static func object(_ part: some Collection<UInt8>) throws(Refusal) -> JSON {
    guard let bytes = decode(part), let json = try? JSON.parse(bytes), json.isObject else { throw .malformed }
    return json
  }

  /// URL-safe Base64 in its one form: no padding, no stray bits. RFC 7515 §2.
  static func decode(_ part: some Collection<UInt8>) -> [UInt8]? {
    guard let bytes = UnpaddedBase64.decode(part), UnpaddedBase64.encode(bytes, .urlSafe).elementsEqual(part) else {
      return nil
    }
    return bytes
  }
}
