import JSON

/// A link to something in Matrix, as `https://matrix.to/#/…` or `matrix:…`.
///
/// Spec: Appendices, "URIs".
public struct Permalink: Sendable, Equatable {
  public enum Target: Sendable, Equatable {
    case user(UserID)
    case room(RoomID)
    case alias(RoomAlias)
  }

  /// What the `matrix:` form asks for; other forms ask for nothing.
  public enum Action: Sendable { case join, chat }

  public var target: Target
  /// An event in the room; nil with users.
  public var event: EventID?
  /// Servers that know the room.
  public var via: [ServerName]
  public var action: Action?

  /// Servers of a link that are kept.
  public static var viaLimit: Int { 20 }
  /// The longest link that is read, in bytes.
  public static var bytesLimit: Int { 8_192 }

  public init(_ target: Target, event: EventID? = nil, via: [ServerName] = [], action: Action? = nil) {
    self.target = target
    self.event = event
    self.via = via
    self.action = action
  }

  // MARK: Building

  /// `https://matrix.to/#/…`, the form every client understands.
  public var matrixTo: ByteString {
    var bytes = Array("https://matrix.to/#/".utf8)
    PercentEncoding.encode(identifier, to: &bytes)
    if let event {
      bytes.append(UInt8(ascii: "/"))
      PercentEncoding.encode(event.text, to: &bytes)
    }
    appendQuery(to: &bytes, action: nil)
    return ByteString(decoding: bytes)
  }

  /// `matrix:…`
  public var matrixURI: ByteString {
    var bytes = Array("matrix:".utf8)
    switch target {
    case .user: bytes += "u/".utf8
    case .room: bytes += "roomid/".utf8
    case .alias: bytes += "r/".utf8
    }
    PercentEncoding.encode(ByteString(decoding: identifier.utf8.dropFirst()), to: &bytes)
    if let event {
      bytes += "/e/".utf8
      PercentEncoding.encode(ByteString(decoding: event.text.utf8.dropFirst()), to: &bytes)
    }
    appendQuery(to: &bytes, action: action)
    return ByteString(decoding: bytes)
  }

  private var identifier: ByteString {
    switch target {
    case .user(let user): user.text
    case .room(let room): room.text
    case .alias(let alias): alias.text
    }
  }

  private func appendQuery(to bytes: inout [UInt8], action: Action?) {
    var separator = UInt8(ascii: "?")
    for server in via {
      bytes.append(separator)
      bytes += "via=".utf8
      PercentEncoding.encode(server.text, to: &bytes)
      separator = UInt8(ascii: "&")
    }
    guard let action else { return }
    bytes.append(separator)
    bytes += (action == .join ? "action=join" : "action=chat").utf8
  }
}

// MARK: - Reading

extension Permalink {
  /// nil where the text is no link into Matrix. Takes what clients have written in the past: unencoded parts, `user`, `room`, `event`.
  public init?(_ text: ByteString) {
    guard text.count <= Permalink.bytesLimit else { return nil }
    let bytes = Array(text.utf8)
    if let rest = Permalink.rest(of: bytes, behind: "https://matrix.to/#/") {
      self.init(matrixTo: rest)
    } else if let rest = Permalink.rest(of: bytes, behind: "http://matrix.to/#/") {
      self.init(matrixTo: rest)
    } else if let rest = Permalink.rest(of: bytes, behind: "matrix:") {
      self.init(matrixURI: rest)
    } else {
      return nil
    }
  }

  private init?(matrixTo bytes: ArraySlice<UInt8>) {
    let (path, query) = Permalink.split(bytes, at: UInt8(ascii: "?"))
    let (first, second) = Permalink.split(path, at: UInt8(ascii: "/"))
    guard let identifier = PercentEncoding.decode(first), let target = Target(ByteString(decoding: identifier)) else {
      return nil
    }
    self.init(target)
    if let second, !second.isEmpty {
      guard let id = PercentEncoding.decode(second), let event = EventID(ByteString(decoding: id)) else { return nil }
      guard setEvent(event) else { return nil }
    }
    readQuery(query)
    action = nil
  }

  private init?(matrixURI bytes: ArraySlice<UInt8>) {
    let (whole, _) = Permalink.split(bytes, at: UInt8(ascii: "#"))
    var (path, query) = Permalink.split(whole, at: UInt8(ascii: "?"))
    if path.starts(with: "//".utf8) {
      path = path.dropFirst(2).drop { $0 != UInt8(ascii: "/") }.dropFirst()
    }
    let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 4, let id = PercentEncoding.decode(parts[1]) else { return nil }
    let sigil: UInt8
    switch ByteString(decoding: parts[0]) {
    case "u", "user": sigil = UInt8(ascii: "@")
    case "r", "room": sigil = UInt8(ascii: "#")
    case "roomid": sigil = UInt8(ascii: "!")
    default: return nil
    }
    guard let target = Target(ByteString(decoding: [sigil] + id)) else { return nil }
    self.init(target)
    if parts.count == 4 {
      let kind = ByteString(decoding: parts[2])
      guard kind == "e" || kind == "event", let id = PercentEncoding.decode(parts[3]),
        let event = EventID(ByteString(decoding: [UInt8(ascii: "$")] + id)), setEvent(event)
      else { return nil }
    }
    readQuery(query)
  }

  /// False with users: they have no events.
  private mutating func setEvent(_ event: EventID) -> Bool {
    if case .user = target { return false }
    self.event = event
    return true
  }

  private mutating func readQuery(_ query: ArraySlice<UInt8>?) {
    guard let query else { return }
    for item in query.split(separator: UInt8(ascii: "&"), maxSplits: 2 * Permalink.viaLimit) {
      let (name, value) = Permalink.split(item, at: UInt8(ascii: "="))
      guard let value, let decoded = PercentEncoding.decode(value) else { continue }
      if name.elementsEqual("via".utf8) {
        guard via.count < Permalink.viaLimit, let server = ServerName(ByteString(decoding: decoded)) else { continue }
        via.append(server)
      } else if name.elementsEqual("action".utf8) {
        setAction(ByteString(decoding: decoded))
      }
    }
  }

  /// Chats are with users, one joins rooms; anything else has no meaning.
  private mutating func setAction(_ name: ByteString) {
    if case .user = target {
      if name == "chat" { action = .chat }
    } else if name == "join" {
      action = .join
    }
  }

  private static func rest(of bytes: [UInt8], behind prefix: StaticString) -> ArraySlice<UInt8>? {
    let count = prefix.utf8CodeUnitCount
    guard bytes.count > count else { return nil }
    for i in 0..<count where (bytes[i] | (bytes[i] &- 65 < 26 ? 0x20 : 0)) != prefix.utf8Start[i] { return nil }
    return bytes[count...]
  }

  /// Returns the parts before and behind the first `separator`; the second is nil without a separator.
  private static func split(_ bytes: ArraySlice<UInt8>, at separator: UInt8) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
    guard let i = bytes.firstIndex(of: separator) else { return (bytes, nil) }
    return (bytes[..<i], bytes[(i + 1)...])
  }
}

extension Permalink.Target {
  /// By the sigil; nil where the identifier does not fit its grammar.
  public init?(_ text: ByteString) {
    switch text.utf8.first {
    case UInt8(ascii: "@"):
      guard let user = UserID(text) else { return nil }
      self = .user(user)
    case UInt8(ascii: "!"):
      guard let room = RoomID(text) else { return nil }
      self = .room(room)
    case UInt8(ascii: "#"):
      guard let alias = RoomAlias(text) else { return nil }
      self = .alias(alias)
    default: return nil
    }
  }
}

extension PercentEncoding {
  /// The bytes that stand for; nil where a `%` is not followed by two hexadecimal digits.
  public static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var i = bytes.startIndex
    while i < bytes.endIndex {
      guard bytes[i] == UInt8(ascii: "%") else {
        decoded.append(bytes[i])
        i += 1
        continue
      }
      guard i + 2 < bytes.endIndex, let high = digit(bytes[i + 1]), let low = digit(bytes[i + 2]) else { return nil }
      decoded.append(high << 4 | low)
      i += 3
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
