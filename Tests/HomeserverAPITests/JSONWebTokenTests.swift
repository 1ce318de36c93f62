import JSON
import MatrixModel
import Testing

@testable import ServerAccounts

@Suite struct JSONWebTokenTests {
  private static let now: Int64 = 1_700_000_000
  private static let claims = #"{"sub":"ann","iss":"app","aud":["chat","other"],"exp":1700000100}"#
  private static let secret = Array("a secret of thirty-two bytes, now".utf8)

  private static func refusal(
    _ token: String, _ keys: [JSONWebKey], at seconds: Int64 = now,
    _ change: (inout JSONWebToken.Expectation) -> Void = { _ in }
  ) -> JSONWebToken.Refusal? {
    var expectation = JSONWebToken.Expectation()
    change(&expectation)
    do throws(JSONWebToken.Refusal) {
      let token = try JSONWebToken(verifying: ByteString(token), with: keys, expectation, now: seconds * 1_000)
      #expect(token.claims.isObject)
      return nil
    } catch { return error }
  }

  private static func key(_ signer: TokenSigner) throws -> JSONWebKey {
    try #require(JSONWebKey(pem: Array(signer.pem.utf8), signer.algorithm))
  }

  @Test(arguments: [JSONWebKey.Algorithm.rs256, .es256, .edDSA])
  func `a token verifies with its key in PEM and as a JWK, and with no other`(algorithm: JSONWebKey.Algorithm) throws {
    let (signer, other) = (TokenSigner(algorithm), TokenSigner(algorithm))
    let token = signer.token(Self.claims)
    let jwk = try #require(JSONWebKey(jwk: try JSON.parse(Array(signer.jwk().utf8)), algorithm))
    #expect(Self.refusal(token, [try Self.key(signer)]) == nil)
    #expect(Self.refusal(token, [jwk]) == nil)
    #expect(Self.refusal(token, [try Self.key(other), jwk]) == nil)
    #expect(Self.refusal(token, [try Self.key(other)]) == .wrongSignature)
  }

  /// RFC 7515, appendices A.1 and A.3.
  @Test func `the examples of the standard verify`() throws {
    let payload =
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let hs256 = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    let key = try #require(JSONWebKey(secret: JSONWebToken.decode(secret.utf8) ?? []))
    #expect(Self.refusal(hs256, [key], at: 1_300_819_379) == nil)
    let es256 =
      "eyJhbGciOiJFUzI1NiJ9.\(payload).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    let jwk =
      #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
    let point = try #require(JSONWebKey(jwk: try JSON.parse(Array(jwk.utf8)), .es256))
    #expect(Self.refusal(es256, [point], at: 1_300_819_379) == nil)
  }

  @Test func `the token does not choose the algorithm`() throws {
    let signer = TokenSigner(.rs256)
    let key = try Self.key(signer)
    // The public key as the secret of an HMAC: the classic.
    #expect(Self.refusal(TokenSigner.token(Self.claims, secret: Array(signer.pem.utf8)), [key]) == .wrongAlgorithm)
    for none in ["none", "None", "NONE", ""] {
      let header = TokenSigner.encode(Array(#"{"alg":"\#(none)"}"#.utf8))
      let body = TokenSigner.encode(Array(Self.claims.utf8))
      #expect(Self.refusal("\(header).\(body).", [key]) == .wrongAlgorithm)
    }
    #expect(Self.refusal(signer.token(Self.claims, header: #"{"alg":"ES256"}"#), [key]) == .wrongAlgorithm)
    #expect(Self.refusal(signer.token(Self.claims, header: #"{"alg":["RS256"]}"#), [key]) == .malformed)
    // A key the token brings itself is of no interest.
    let attacker = TokenSigner(.rs256)
    let header = #"{"alg":"RS256","jwk":\#(attacker.jwk())}"#
    #expect(Self.refusal(attacker.token(Self.claims, header: header), [key]) == .wrongSignature)
    #expect(Self.refusal(signer.token(Self.claims, header: #"{"alg":"RS256","crit":["b64"]}"#), [key]) == .malformed)
  }

  @Test func `a key is of use for its own algorithm only`() throws {
    let (rsa, point) = (TokenSigner(.rs256), TokenSigner(.es256))
    for (signer, algorithm) in [(rsa, JSONWebKey.Algorithm.es256), (point, .rs256), (rsa, .edDSA), (rsa, .hs256)] {
      #expect(JSONWebKey(pem: Array(signer.pem.utf8), algorithm) == nil)
      #expect(JSONWebKey(jwk: try JSON.parse(Array(signer.jwk().utf8)), algorithm) == nil)
    }
    #expect(JSONWebKey(jwk: try JSON.parse(Array(rsa.jwk(#","use":"enc""#).utf8)), .rs256) == nil)
    #expect(JSONWebKey(jwk: try JSON.parse(Array(rsa.jwk(#","alg":"RS512""#).utf8)), .rs256) == nil)
    let zeros = TokenSigner.encode([UInt8](repeating: 1, count: 32))
    #expect(
      JSONWebKey(jwk: try JSON.parse(Array(#"{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}"#.utf8)), .es256) == nil
    )
    let short = TokenSigner.encode([UInt8](repeating: 255, count: 128))
    #expect(JSONWebKey(jwk: try JSON.parse(Array(#"{"kty":"RSA","n":"\#(short)","e":"AQAB"}"#.utf8)), .rs256) == nil)
    #expect(JSONWebKey(secret: [UInt8](repeating: 1, count: 31)) == nil)
    #expect(JSONWebKey(secret: [UInt8](repeating: 1, count: 32)) != nil)
    #expect(JSONWebKey(pem: Array("no key".utf8), .rs256) == nil)
  }

  @Test func `a name of a key chooses among the keys`() throws {
    let (one, two) = (TokenSigner(.edDSA), TokenSigner(.edDSA))
    func named(_ signer: TokenSigner, _ name: String) throws -> JSONWebKey {
      try #require(JSONWebKey(jwk: try JSON.parse(Array(signer.jwk(#","kid":"\#(name)""#).utf8)), .edDSA))
    }
    let keys = [try named(one, "1"), try named(two, "2")]
    #expect(Self.refusal(two.token(Self.claims, header: #"{"alg":"EdDSA","kid":"2"}"#), keys) == nil)
    #expect(Self.refusal(two.token(Self.claims, header: #"{"alg":"EdDSA","kid":"1"}"#), keys) == .wrongSignature)
    #expect(Self.refusal(two.token(Self.claims, header: #"{"alg":"EdDSA","kid":"3"}"#), keys) == .unknownKey)
    #expect(Self.refusal(two.token(Self.claims), keys) == nil)
  }

  @Test(
    arguments: [
      (#"{"exp":1700000000}"#, 59, nil), (#"{"exp":1700000000}"#, 60, JSONWebToken.Refusal.expired),
      (#"{"exp":1700000000.9}"#, 59, nil), (#"{"exp":1700000061,"nbf":1700000060}"#, 0, nil),
      (#"{"exp":1700000062,"nbf":1700000061}"#, 0, .notYetValid), (#"{"exp":1700000062,"iat":1700000061}"#, 0, .notYetValid),
      ("{}", 0, .withoutExpiry), (#"{"exp":"1700000100"}"#, 0, .malformed), (#"{"exp":17e20}"#, 0, .malformed),
      (#"{"exp":-1}"#, 0, .expired), (#"{"exp":99999999999999999999}"#, 0, .malformed), ("[]", 0, .malformed)
    ] as [(String, Int64, JSONWebToken.Refusal?)])
  func `the times hold, with a minute for clocks that differ`(
    claims: String, later: Int64, refusal: JSONWebToken.Refusal?
  ) throws {
    let key = try #require(JSONWebKey(secret: Self.secret))
    #expect(Self.refusal(TokenSigner.token(claims, secret: Self.secret), [key], at: Self.now + later) == refusal)
  }

  @Test func `issuer and audience are what was expected`() throws {
    let key = try #require(JSONWebKey(secret: Self.secret))
    func refusal(_ claims: String, _ change: (inout JSONWebToken.Expectation) -> Void) -> JSONWebToken.Refusal? {
      Self.refusal(TokenSigner.token(claims, secret: Self.secret), [key], change)
    }
    #expect(refusal(Self.claims) { $0.issuer = "app" } == nil)
    #expect(refusal(Self.claims) { $0.issuer = "App" } == .wrongIssuer)
    #expect(refusal(#"{"exp":1700000100}"#) { $0.issuer = "app" } == .wrongIssuer)
    #expect(refusal(Self.claims) { $0.audiences = ["x", "other"] } == nil)
    #expect(refusal(#"{"exp":1700000100,"aud":"x"}"#) { $0.audiences = ["x"] } == nil)
    #expect(refusal(Self.claims) { $0.audiences = ["x"] } == .wrongAudience)
    #expect(refusal(#"{"exp":1700000100}"#) { $0.audiences = ["x"] } == .wrongAudience)
    #expect(refusal("{}") { $0.needsExpiry = false } == nil)
  }

  @Test func `every change to a token and every cut of it is refused`() throws {
    let key = try #require(JSONWebKey(secret: Self.secret))
    let token = Array(TokenSigner.token(Self.claims, secret: Self.secret).utf8)
    for index in token.indices {
      #expect(Self.refusal(String(decoding: token[..<index], as: UTF8.self), [key]) != nil)
      var changed = token
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(Self.refusal(String(decoding: changed, as: UTF8.self), [key]) != nil)
    }
    #expect(Self.refusal(String(decoding: token, as: UTF8.self) + "=", [key]) == .malformed)
    let long = #"{"exp":1700000100,"x":"\#(String(repeating: "x", count: JSONWebToken.bytesLimit))"}"#
    #expect(Self.refusal(TokenSigner.token(long, secret: Self.secret), [key]) == .malformed)
  }
}
