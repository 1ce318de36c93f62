import JSON

/// One operation of the Client-Server API: what the server's router matches and what a client fills in.
public struct Endpoint: Sendable {
  public enum Method: UInt8, Sendable { case get, put, post, delete }

  /// Who may call it: anyone, who has an account, or only who administers the server.
  public enum Access: UInt8, Sendable { case anyone, account, administrator }

  public let method: Method
  /// `/_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}`: names in braces stand for one path segment each.
  public let pattern: StaticString
  public let access: Access
  /// Whether the spec lets a server answer `M_LIMIT_EXCEEDED`.
  public let isRateLimited: Bool

  package init(_ method: Method, _ pattern: StaticString, _ access: Access = .account, rateLimited: Bool = false) {
    self.method = method
    self.pattern = pattern
    self.access = access
    isRateLimited = rateLimited
  }

  /// The path with the segments in braces replaced, in order and percent-encoded. Each needs one value.
  public func path(_ values: ByteString...) -> String { path(of: values) }

  /// Likewise, for values that are counted only when the program runs.
  package func path(of values: [ByteString]) -> String {
    var bytes: [UInt8] = []
    var next = 0
    var isName = false
    for byte in UnsafeBufferPointer(start: pattern.utf8Start, count: pattern.utf8CodeUnitCount) {
      switch byte {
      case UInt8(ascii: "{"):
        isName = true
        precondition(next < values.count, "a path segment has no value")
        PercentEncoding.encode(values[next], to: &bytes)
        next += 1
      case UInt8(ascii: "}"): isName = false
      default: if !isName { bytes.append(byte) }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// RFC 3986 §2.1: everything but unreserved bytes as `%XX`.
public enum PercentEncoding {
  public static func encode(_ text: ByteString, to bytes: inout [UInt8]) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 15] {
          bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
      }
    }
  }

  public static func encode(_ text: ByteString) -> String {
    var bytes: [UInt8] = []
    encode(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
