import Database
import Homeserver
import JSON
import MatrixModel

/// An API key: the name of an application that has sessions here.
package struct ProjectID: Identifier, SQLParameter {
  package let text: ByteString

  package init(trusted text: ByteString) { self.text = text }

  package static func accepts(_ text: ByteString) -> Bool {
    (1...32).contains(text.count) && text.utf8.allSatisfy { CallName.isPlain($0) }
  }

  /// The homeserver itself, whose sessions are the calls of rooms. Its secret is nobody's.
  package static let rooms = ProjectID(trusted: "martlet")
}

/// A session's name tells its project, in the form that server SDKs look into: `1_` and the URL-safe Base64 of `1~PROJECT~~TIME~RANDOM~`.
package struct SessionID: Identifier, SQLParameter {
  package let text: ByteString

  package init(trusted text: ByteString) { self.text = text }

  package static func accepts(_ text: ByteString) -> Bool {
    (3...255).contains(text.count) && text.utf8.allSatisfy { CallName.isPlain($0) }
  }
}

/// One participant's place in a session.
package struct ConnectionID: Identifier {
  package let text: ByteString

  package init(trusted text: ByteString) { self.text = text }

  package static func accepts(_ text: ByteString) -> Bool { CallName.accepts(text) }
}

/// What a connection publishes.
package struct StreamID: Identifier {
  package let text: ByteString

  package init(trusted text: ByteString) { self.text = text }

  package static func accepts(_ text: ByteString) -> Bool { CallName.accepts(text) }
}

/// Names that we choose.
enum CallName {
  private static let alphabet = Array("0123456789abcdef".utf8)

  /// 128 bits in the form of a UUID, which applications take such names for. RFC 9562 §5.4.
  static func random(using generator: inout some RandomNumberGenerator) -> ByteString {
    var bytes: [UInt8] = []
    for index in 0..<36 {
      switch index {
      case 8, 13, 18, 23: bytes.append(UInt8(ascii: "-"))
      case 14: bytes.append(UInt8(ascii: "4"))
      case 19: bytes.append(alphabet[Int.random(in: 8..<12, using: &generator)])
      default: bytes.append(alphabet[Int.random(in: 0..<16, using: &generator)])
      }
    }
    return ByteString(decoding: bytes)
  }

  static func accepts(_ text: ByteString) -> Bool { text.count == 36 && text.utf8.allSatisfy(isPlain) }

  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
