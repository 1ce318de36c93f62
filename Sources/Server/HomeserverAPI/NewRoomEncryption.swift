import JSON

/// Which new rooms clients encrypt end to end, unless their creator decides otherwise.
package enum NewRoomEncryption: String, CaseIterable, Sendable {
  case off
  /// Direct chats, and rooms that only invited users can join.
  case inviteOnly = "invite_only"
  case all

  /// Writes the members by which clients learn it from `/.well-known/matrix/client`. Element and others know `io.element.e2ee`, which has no word for rooms
  /// that anyone can join.
  func write(to writer: inout JSONWriter) {
    writer.key("io.element.e2ee")
    writer.object { $0.member("default", self != .off) }
    writer.key("martlet.encryption")
    writer.object { $0.member("new_rooms", rawValue) }
  }
}
