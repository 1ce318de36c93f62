import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import WebHost

/// The keys of encrypted rooms for people who come later (`m.room_key_bundle`): this user gives them before inviting somebody, and takes them after
/// accepting an invitation. The Worker encrypts and decrypts them. Spec: Client-Server API, "Sharing keys between users".
package final class RoomHistories {
  /// Of a bundle, as `RoomKeyBundle` has it.
  private static let bytesLimit = 50 * 1_024 * 1_024

  /// Puts ciphertext into the content repository.
  package var upload: ([UInt8], @escaping (MediaURI?) -> Void) -> Void = { _, then in then(nil) }
  /// Reads it from there, up to a number of bytes.
  package var fetch: (MediaURI, Int, @escaping (HostResponse) -> Void) -> Void = { _, _, _ in }

  private let encryption: PageEncryption

  init(_ encryption: PageEncryption) {
    self.encryption = encryption
    encryption.onHistory = { [self] in take($0, of: $1, from: $2) }
  }

  /// Gives people what members who come later may read of the room: to their devices that they have signed. `then` is called also if there is nothing
  /// to give, or nobody to give it to.
  package func give(_ room: RoomID, to users: [UserID], _ then: @escaping () -> Void) {
    encryption.perform(.makeHistory(room: room.text)) { [self] outcome in
      guard case .sealed(let sealed)? = outcome,
        let keys = FileKeys(key: sealed.key, counter: sealed.counter, digest: sealed.digest)
      else { return then() }
      upload(sealed.bytes) { [self] uri in
        guard let uri else { return then() }
        var writer = JSONWriter()
        EncryptedFile(uri, keys).write(to: &writer)
        give(room, to: users[...], writer.bytes, then)
      }
    }
  }

  private func give(_ room: RoomID, to users: ArraySlice<UserID>, _ file: [UInt8], _ then: @escaping () -> Void) {
    guard let user = users.first else { return then() }
    encryption.perform(.giveHistory(room: room.text, to: user.text, file: file)) { [self] _ in
      give(room, to: users.dropFirst(), file, then)
    }
  }

  private func take(_ file: [UInt8], of room: ByteString, from giver: ByteString) {
    let json = try? JSON.parse(file)
    guard let file = EncryptedFile(json) else { return take([], nil, of: room, from: giver) }
    fetch(file.source, Self.bytesLimit) { [self] response in
      switch response.status {
      case 200: take(response.body, file.keys, of: room, from: giver)
      // It is offered again after a reload.
      case 0, 401, 408, 429, 500...: break
      default: take([], nil, of: room, from: giver)
      }
    }
  }

  private func take(_ bytes: [UInt8], _ keys: FileKeys?, of room: ByteString, from giver: ByteString) {
    let sealed = EncryptionAction.SealedFile(
      bytes: bytes, key: keys?.key ?? "", counter: keys?.counter ?? "", digest: keys?.digest ?? "")
    encryption.perform(.takeHistory(room: room, from: giver, sealed)) { _ in }
  }
}
