import JSON
import MatrixModel

/// What a new room is like.
public struct NewRoom: Sendable {
  public enum Preset: Sendable { case privateChat, trustedPrivateChat, publicChat }

  public var preset: Preset
  public var name: ByteString?
  public var topic: ByteString?
  /// Localpart of the alias to make, without `#` and server.
  public var aliasLocalpart: ByteString?
  public var invited: [UserID]
  /// `m.space` for a space (`NewRoom.space`); nil for a plain room.
  public var type: ByteString?
  /// Whether what is said there is encrypted from the beginning. That cannot be taken back. nil leaves it to the server's wish, if the app encrypts new
  /// rooms (`Client.encryptsNewChats`), and is false otherwise. Spaces are not encrypted.
  public var isEncrypted: Bool?

  public init(
    preset: Preset = .privateChat, name: ByteString? = nil, topic: ByteString? = nil, aliasLocalpart: ByteString? = nil,
    invited: [UserID] = [], isEncrypted: Bool? = nil
  ) {
    self.preset = preset
    self.name = name
    self.topic = topic
    self.aliasLocalpart = aliasLocalpart
    self.invited = invited
    self.isEncrypted = isEncrypted
  }
}

extension NewRoom {
  /// State of a room that is encrypted from the beginning.
  static var encryptedState: [UInt8] {
    Array(#"[{"type":"m.room.encryption","state_key":"","content":{"algorithm":"m.megolm.v1.aes-sha2"}}]"#.utf8)
  }
}
