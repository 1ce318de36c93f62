import JSON
import MatrixModel

/// A direct chat that there may not be yet.
enum NewChat: Sendable {
  case with(UserID)
  /// By an invite link of the user.
  case byLink(ByteString, of: UserID)

  var user: UserID {
    switch self {
    case .with(let user), .byLink(_, let user): user
    }
  }
}

/// A new direct chat is encrypted if the app wants that, the server does, and the other user has a device with keys: who has none could not read it.
extension Client {
  /// Finds out what is to be known before the chat is made.
  mutating func prepare(_ chat: NewChat, _ id: CommandID) {
    guard encryptsNewChats else { return make(chat, isEncrypted: false, id) }
    guard let wishes = extensions.wishes else {
      request(.getWellknown, Endpoint.getWellknown.path(), for: .encryptionWishes(chat, id))
      return
    }
    guard wishes.privateRooms else { return make(chat, isEncrypted: false, id) }
    let body = JSONWriter.object { writer in
      writer.key("device_keys")
      writer.object { writer in
        writer.key(chat.user.text)
        writer.array { _ in }
      }
    }
    request(.queryKeys, Endpoint.queryKeys.path(), body: body, for: .directChatKeys(chat, id))
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

  mutating func chatKeysAnswered(_ answer: Answer, for chat: NewChat, _ id: CommandID) {
    guard case .success(let json) = answer else { return fail(chat, answer, id) }
    let devices = json["device_keys"]?[chat.user.text]
    make(chat, isEncrypted: devices?.isObject ?? false && devices?.count ?? 0 > 0, id)
  }

  private mutating func make(_ chat: NewChat, isEncrypted: Bool, _ id: CommandID) {
    switch chat {
    case .with(let user): makeDirectChat(with: user, isEncrypted: isEncrypted, id)
    case .byLink(let token, _): join(byLink: token, isEncrypted: isEncrypted, id)
    }
  }

  private mutating func fail(_ chat: NewChat, _ answer: Answer, _ id: CommandID) {
    switch chat {
    case .with(let user): directChatAnswered(answer, with: user, id)
    case .byLink: finish(id, .failed(answer.error ?? .badAnswer))
    }
  }
}
