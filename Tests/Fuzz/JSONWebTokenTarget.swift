import CCrypto
import JSON
import MatrixModel
import RoomRules
import ServerAccounts

/// Any bytes as a token, as the claims of a token that is signed rightly, as a key in PEM and as a JWK: nothing traps, and no
/// bytes pass for a token of a secret they do not know.
func fuzzJSONWebToken(_ bytes: UnsafeRawBufferPointer) {
  let bytes = Array(bytes)
  let secret = Array("a secret of at least 32 bytes, for this alone".utf8)
  guard let key = JSONWebKey(secret: secret) else { fatalError("the secret is no key") }
  var expectation = JSONWebToken.Expectation()
  expectation.audiences = ["chat"]
  func passes(_ token: [UInt8]) -> Bool {
    (try? JSONWebToken(verifying: ByteString(decoding: token), with: [key], expectation, now: 1_700_000_000_000)) != nil
  }
  guard !passes(bytes) else { fatalError("a token that nobody signed was taken") }
  let message =
    UnpaddedBase64.encode(Array(#"{"alg":"HS256"}"#.utf8), .urlSafe) + [UInt8(ascii: ".")]
    + UnpaddedBase64.encode(bytes, .urlSafe)
  var digest = [UInt8](repeating: 0, count: 32)
  _ = HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &digest, nil)
  _ = passes(message + [UInt8(ascii: ".")] + UnpaddedBase64.encode(digest, .urlSafe))
  let jwk = try? JSON.parse(bytes)
  for algorithm in JSONWebKey.Algorithm.allCases {
    _ = JSONWebKey(pem: bytes, algorithm)
    if let jwk { _ = JSONWebKey(jwk: jwk, algorithm) }
  }
}
