import JSON
import MatrixModel

/// A new direct chat is encrypted if the app wants that, the server does, and the other user has a device with keys: who has none could not read it.
extension Client {
  /// Finds out what is to be known before the chat is made.
  mutating func prepareDirectChat(with user: UserID, _ id: CommandID) {
    guard encryptsNewChats else { return makeDirectChat(with: user, isEncrypted: false, id) }
    guard let wishes = extensions.wishes else {
      request(.getWellknown, Endpoint.getWellknown.path(), for: .encryptionWishes(user, id))
      return
    }
    guard wishes.privateRooms else { return makeDirectChat(with: user, isEncrypted: false, id) }
    let body = JSONWriter.object { writer in
      writer.key("device_keys")
      writer.object { writer in
        writer.key(user.text)
        writer.array { _ in }
      }
    }
    request(.queryKeys, Endpoint.queryKeys.path(), body: body, for: .directChatKeys(user, id))
  }

  mutating func wishesAnswered(_ answer: Answer, with user: UserID, _ id: CommandID) {
    switch answer {
    case .success(let json): extensions.wishes = EncryptionWishes(json) ?? EncryptionWishes()
    case .refused where !answer.isTransient: extensions.wishes = EncryptionWishes()
    default: return directChatAnswered(answer, with: user, id)
    }
    prepareDirectChat(with: user, id)
  }

  mutating func chatKeysAnswered(_ answer: Answer, with user: UserID, _ id: CommandID) {
    guard case .success(let json) = answer else { return directChatAnswered(answer, with: user, id) }
    let devices = json["device_keys"]?[user.text]
    makeDirectChat(with: user, isEncrypted: devices?.isObject ?? false && devices?.count ?? 0 > 0, id)
  }
}
