import ClientCore
import JSON
import MatrixModel

/// What an address of the page behind `#/join/` invites to. Anybody can write one: whatever is not of these forms is unread.
enum InviteAddress: Equatable {
  /// The token of an invite link.
  case token(ByteString)
  /// A room or space that people find by its address.
  case room(Permalink)
  case unread

  private static var start: StaticString { "join/" }
  private static var tokenBytesLimit: Int { 64 }

  /// nil for addresses of other places.
  init?(fragment: String) {
    var rest = ByteString(fragment)
    if rest.hasPrefix("/") { rest = ByteString(decoding: rest.utf8.dropFirst()) }
    guard rest.hasPrefix(InviteAddress.start) else { return nil }
    rest = ByteString(decoding: rest.utf8.dropFirst(InviteAddress.start.utf8CodeUnitCount))
    if InviteAddress.isToken(rest) {
      self = .token(rest)
    } else if let link = Permalink(ByteString("https://matrix.to/#/" + rest.string)), !link.isOfUser {
      self = .room(link)
    } else {
      self = .unread
    }
  }

  /// As it stands behind `#`.
  var fragment: String {
    switch self {
    case .token(let token): "/join/" + token.string
    case .room(let link):
      switch link.target {
      case .alias(let alias): "/join/" + PercentEncoding.encode(alias.text)
      case .room(let room): "/join/" + PercentEncoding.encode(room.text)
      case .user: "/join/"
      }
    case .unread: "/join/"
    }
  }

  private static func isToken(_ text: ByteString) -> Bool {
    (1...tokenBytesLimit).contains(text.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}

extension Permalink {
  fileprivate var isOfUser: Bool {
    if case .user = target { return true }
    return false
  }
}
