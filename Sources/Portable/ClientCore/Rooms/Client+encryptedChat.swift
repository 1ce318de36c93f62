import JSON
import MatrixModel

/// A room that is to be made; the first two are direct chats that there may not be yet.
enum NewChat: Sendable {
  case with(UserID)
  /// By an invite link of the user.
  case byLink(ByteString, of: UserID)
  case room(NewRoom)
}

/// A new room is encrypted if the app wants that and the server does. In a direct chat the other user must have a device with keys, too: who has
/// none could not read it.
extension Client {
  /// Finds out what is to be known before the chat is made.
  mutating func prepare(_ chat: NewChat, _ id: CommandID) {
    guard encryptsNewChats else { return make(chat, isEncrypted: false, id) }
    guard let wishes = extensions.wishes else {
      request(.getWellknown, Endpoint.getWellknown.path(), for: .encryptionWishes(chat, id))
      return
    }
    let user: UserID
    switch chat {
    case .room(let room):
      return make(chat, isEncrypted: room.preset == .publicChat ? wishes.publicRooms : wishes.privateRooms, id)
    case .with(let other), .byLink(_, let other): user = other
    }
    guard wishes.privateRooms else { return make(chat, isEncrypted: false, id) }
    let body = JSONWriter.object { writer in
      writer.key("device_keys")
      writer.object { writer in
        writer.key(user.text)
        writer.array { _ in }
      }
    }
    request(.queryKeys, Endpoint.queryKeys.path(), body: body, for: .directChatKeys(chat, of: user, id))
  }

  mutating func wishesAnswered(_ answer: Answer, for chat: NewChat, _ id: CommandID) {
    switch answer {
    case .success(let json): extensions.wishes = EncryptionWishes(json) ?? EncryptionWishes()
    // What is there is not Matrix's.
    case .unreadable: extensions.wishes = EncryptionWishes()
    case .refused where !answer.isTransient: extensions.wishes = EncryptionWishes()
    default: return fail(chat, answer, id)
    }
    prepare(chat, id)
  }

  mutating func chatKeysAnswered(_ answer: Answer, for chat: NewChat, of user: UserID, _ id: CommandID) {
    guard case .success(let json) = answer else { return fail(chat, answer, id) }
    let devices = json["device_keys"]?[user.text]
    make(chat, isEncrypted: devices?.isObject ?? false && devices?.count ?? 0 > 0, id)
  }

  private mutating func make(_ chat: NewChat, isEncrypted: Bool, _ id: CommandID) {
    switch chat {
    case .with(let user): makeDirectChat(with: user, isEncrypted: isEncrypted, id)
    case .byLink(let token, _): join(byLink: token, isEncrypted: isEncrypted, id)
    case .room(var room):
      room.isEncrypted = isEncrypted
      createRoom(room, directUser: nil, id)
    }
  }

  private mutating func fail(_ chat: NewChat, _ answer: Answer, _ id: CommandID) {
    switch chat {
    case .with(let user): directChatAnswered(answer, with: user, id)
    case .byLink, .room: finish(id, .failed(answer.error ?? .badAnswer))
    }
  }
}
