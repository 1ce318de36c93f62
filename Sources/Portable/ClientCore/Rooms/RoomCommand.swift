import JSON
import MatrixModel

/// Coming into rooms, leaving them, and what they are called and filed under.
public enum RoomCommand: Sendable {
  case create(NewRoom)
  /// The room of the direct chat with that user; creates it if there is none. Fails with `invalidUserID`.
  case openDirectChat(with: ByteString)
  /// A room ID or alias; servers that may know the room.
  case join(ByteString, via: [ServerName] = [], reason: ByteString? = nil)
  /// The room, or the direct chat, that the token of an invite link leads to (`Query.invitation`).
  case joinByLink(ByteString)
  case leave(RoomID)
  case forget(RoomID)
  case setName(RoomID, ByteString)
  case setTopic(RoomID, ByteString)
  /// Puts the tag on the room, or gives it another order.
  case setTag(RoomID, RoomTag)
  case removeTag(RoomID, ByteString)
  /// Makes the room the direct chat with that user, or with nobody, in `m.direct`.
  case setDirect(RoomID, with: UserID?)
  /// The user goes to the room: it becomes the first of `Client.breadcrumbs`.
  case visit(RoomID)
}

extension Client {
  mutating func handle(_ command: RoomCommand, _ id: CommandID) {
    switch command {
    case .create(let room):
      guard room.isEncrypted == nil, room.type == nil else { return createRoom(room, directUser: nil, id) }
      prepare(.room(room), id)
    case .openDirectChat(let user): openDirectChat(with: user, id)
    case .join(let address, let servers, let reason): join(address, via: servers, reason: reason, id)
    case .joinByLink(let token): joinByLink(token, id)
    case .leave(let room): leave(room, id)
    case .forget(let room): forget(room, id)
    case .setName(let room, let name): setState(.name, in: room, member: "name", name, id)
    case .setTopic(let room, let topic): setState(.topic, in: room, member: "topic", topic, id)
    case .setTag(let room, let tag): setTag(tag, on: room, id)
    case .removeTag(let room, let name): removeTag(name, from: room, id)
    case .setDirect(let room, let user): setDirect(room, user, id)
    case .visit(let room): visit(room, id)
    }
  }
}
