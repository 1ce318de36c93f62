import JSON

/// A Matrix identifier: bytes with a sigil and a grammar, compared byte by byte, a type of its own per kind.
///
/// The failable initializer checks the grammar that a server must accept, which is wider than what it may create.
/// Spec: Appendices, "Identifier Grammar".
public protocol Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
  var text: ByteString { get }

  /// For text that was checked before (a row of our own database, an ID just built).
  init(trusted text: ByteString)

  /// Whether the text fits the grammar.
  static func accepts(_ text: ByteString) -> Bool
}

extension Identifier {
  /// nil where the text does not fit the grammar.
  public init?(_ text: ByteString) {
    guard Self.accepts(text) else { return nil }
    self.init(trusted: text)
  }

  /// nil where the text does not fit the grammar.
  public init?(_ text: String) {
    self.init(ByteString(text))
  }

  /// nil where the value is not a string or does not fit the grammar.
  public init?(_ json: JSON?) {
    guard let text = json?.text else { return nil }
    self.init(text)
  }

  public var string: String { text.string }
  public var description: String { text.string }

  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

extension JSONWriter {
  public mutating func write(_ value: some Identifier) { write(value.text) }

  public mutating func member(_ key: StaticString, _ value: some Identifier) { member(key, value.text) }

  @_disfavoredOverload
  public mutating func key(_ value: some Identifier) { key(value.text) }
}

enum IdentifierGrammar {
  /// Bytes of a user ID, room ID, room alias or event ID, sigil and server name included.
  static let bytesLimit = 255

  /// `sigil` first, no NUL, within the limit and, if asked for, a server name behind the first colon.
  static func accepts(_ text: ByteString, sigil: UInt8, needsServerName: Bool, bytesLimit: Int = bytesLimit) -> Bool {
    text.withBytes { bytes in
      guard (1...bytesLimit).contains(bytes.count), bytes[0] == sigil, !bytes.contains(0) else { return false }
      guard needsServerName else { return bytes.count > 1 }
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
      return ServerName.accepts(bytes[(colon + 1)...])
    }
  }

  /// What stands between the sigil and the first colon (or the end).
  static func opaque(of text: ByteString) -> ByteString {
    text.withBytes { bytes in
      ByteString(decoding: bytes.dropFirst().prefix { $0 != UInt8(ascii: ":") })
    }
  }

  /// What stands behind the first colon.
  static func serverName(of text: ByteString) -> ServerName? {
    text.withBytes { bytes in
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      return ServerName(trusted: ByteString(decoding: bytes[(colon + 1)...]))
    }
  }
}
