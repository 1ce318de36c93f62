import JSON

/// `!opaque:server`, from room version 12 on `!` and the create event's reference hash; at most 255 bytes.
///
/// Opaque to clients. Spec: Appendices, "Room IDs".
public struct RoomID: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    IdentifierGrammar.accepts(text, sigil: UInt8(ascii: "!"), needsServerName: false)
  }

  /// nil for room IDs without a server name (room version 12 on).
  public var serverName: ServerName? { IdentifierGrammar.serverName(of: text) }
}

/// `#localpart:server`, at most 255 bytes. Spec: Appendices, "Room Aliases".
public struct RoomAlias: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    IdentifierGrammar.accepts(text, sigil: UInt8(ascii: "#"), needsServerName: true)
  }

  public var localpart: ByteString { IdentifierGrammar.opaque(of: text) }
  public var serverName: ServerName { IdentifierGrammar.serverName(of: text) ?? ServerName(trusted: "") }
}

/// `$` and the event's reference hash in URL-safe unpadded Base64 (room version 4 on); at most 255 bytes.
///
/// Opaque to clients. Spec: Appendices, "Event IDs".
public struct EventID: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    IdentifierGrammar.accepts(text, sigil: UInt8(ascii: "$"), needsServerName: false)
  }
}
