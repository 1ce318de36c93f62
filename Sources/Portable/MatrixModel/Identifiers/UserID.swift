import JSON

/// `@localpart:server`, at most 255 bytes.
///
/// Accepts what other servers may have created in the past (any localpart without `:` and NUL); `isAllowedLocalpart` is
/// what a new account may be called. Spec: Appendices, "User Identifiers".
public struct UserID: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  /// nil where the whole would be longer than 255 bytes or the localpart has a colon.
  public init?(localpart: ByteString, server: ServerName) {
    self.init("@" + localpart.string + ":" + server.string)
  }

  public static func accepts(_ text: ByteString) -> Bool {
    IdentifierGrammar.accepts(text, sigil: UInt8(ascii: "@"), needsServerName: true)
  }

  /// As `accepts`, with another limit than 255 bytes.
  public static func accepts(_ text: ByteString, bytesLimit: Int) -> Bool {
    IdentifierGrammar.accepts(text, sigil: UInt8(ascii: "@"), needsServerName: true, bytesLimit: bytesLimit)
  }

  public var localpart: ByteString { IdentifierGrammar.opaque(of: text) }
  public var serverName: ServerName { IdentifierGrammar.serverName(of: text) ?? ServerName(trusted: "") }

  /// `a-z`, `0-9` and `._=-/+`, not empty: what a new account may be called.
  public static func isAllowedLocalpart(_ localpart: ByteString) -> Bool {
    !localpart.isEmpty
      && localpart.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
          UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "+"):
          true
        default: false
        }
      }
  }
}
