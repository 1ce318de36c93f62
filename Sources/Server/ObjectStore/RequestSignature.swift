import CCrypto
import Glibc
import ServerCore

/// Signs a request as S3 wants it, by HMAC-SHA-256.
///
/// Source: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)".
struct RequestSignature {
  /// Stands for the hash of a body that is not hashed.
  static let unsignedPayload = "UNSIGNED-PAYLOAD"
  /// SHA-256 of no bytes.
  static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  let method: String
  let host: String
  /// Encoded.
  let path: String
  /// Not encoded, in any order.
  var query: [(name: String, value: String)] = []
  /// Headers to sign beside the host; names in lower case.
  var headers: [(name: String, value: String)] = []
  /// SHA-256 of the body in hexadecimal, or `unsignedPayload`.
  var payload = emptyPayload
  /// Milliseconds since 1970.
  let time: Int64

  /// The query as it is signed and sent: encoded, sorted by name.
  var queryText: String {
    query.map { (Self.encode($0.name), Self.encode($0.value)) }.sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  /// All headers of the signed request but the host, `authorization` the last.
  func signed(accessKey: String, secretKey: String, region: String) -> [(name: String, value: String)] {
    let moment = Self.moment(time)
    let sent = headers + [("x-amz-content-sha256", payload), ("x-amz-date", moment)]
    let all = (sent + [("host", host)]).sorted { $0.0 < $1.0 }
    let names = all.map(\.0).joined(separator: ";")
    let lines = all.map { "\($0.0):\($0.1)\n" }.joined()
    let request = [method, path, queryText, lines, names, payload].joined(separator: "\n")

    let day = String(moment.prefix(8))
    let scope = "\(day)/\(region)/s3/aws4_request"
    let text = ["AWS4-HMAC-SHA256", moment, scope, Self.sha256(Array(request.utf8))].joined(separator: "\n")
    let signature = KeyedHash.hexadecimal(
      KeyedHash.sha256.digest(of: Array(text.utf8), key: Self.key(secretKey, day, region, "s3")))
    let authorization =
      "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
    return sent + [("authorization", authorization)]
  }

  /// The key of one day for one service.
  static func key(_ secret: String, _ day: String, _ region: String, _ service: String) -> [UInt8] {
    [day, region, service, "aws4_request"].reduce(Array("AWS4\(secret)".utf8)) { key, part in
      KeyedHash.sha256.digest(of: Array(part.utf8), key: key)
    }
  }

  static func sha256(_ bytes: [UInt8]) -> String {
    let digest = [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      bytes.withUnsafeBytes { cryptoSHA256($0.baseAddress, $0.count, digest.baseAddress) }
      count = 32
    }
    return KeyedHash.hexadecimal(digest)
  }

  /// Everything but letters, digits, `-`, `.`, `_` and `~` as `%XX`.
  static func encode(_ text: String, keepsSlashes: Bool = false) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    return String(
      decoding: text.utf8.flatMap { byte -> [UInt8] in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: [byte]
        case 0x2F where keepsSlashes: [byte]
        default: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
      }, as: UTF8.self)
  }

  /// `20130524T000000Z`
  static func moment(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(Int(parts.tm_year) + 1_900)\(digits(parts.tm_mon + 1))\(digits(parts.tm_mday))"
    return "\(day)T\(digits(parts.tm_hour))\(digits(parts.tm_min))\(digits(parts.tm_sec))Z"
  }
}
