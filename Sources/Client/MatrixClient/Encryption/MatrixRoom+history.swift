import ClientCore
import Encryption
import JSON
public import MatrixModel
import Olm

/// The history of encrypted rooms for people who come later. Spec: Client-Server API, "Sharing keys between users".
extension MatrixRoom {
  /// Gives the keys of the room's messages to somebody who is to be invited, as far as the room showed its history to later members when they were
  /// sent. `invite(_:reason:)` does that by itself.
  ///
  /// - Returns: false if the room does not share its history, if there are no such keys, or if the user has no device that they have signed. Nobody
  ///   else gets a whole history.
  @discardableResult
  public func shareHistory(with user: UserID) async throws(EncryptionError) -> Bool {
    guard let room = await state, room.isEncrypted,
      room.historyVisibility == .shared || room.historyVisibility == .worldReadable
    else { return false }
    var keys: [RoomKey] = []
    for slice in EncryptionMachine.keySlices {
      guard case .exported(_, let some)? = await client.transferKeys({ .exportKeys($0, of: id, slice: slice) }) else {
        throw Task.isCancelled ? .client(.cancelled) : .unavailable
      }
      keys += some
    }
    guard let text = RoomKeyBundle.text(of: keys) else { return false }
    let file: EncryptedFile
    do throws(ClientError) { file = try await client.uploadBundle(text) } catch { throw .client(error) }
    guard let json = file.json else { return false }
    do throws(EncryptionError) { try await client.perform(.shareHistory(id, with: user, file: json)) } catch {
      if case .unverified = error { return false }
      throw error
    }
    return true
  }
}

extension MatrixClient {
  private static let keysOfStep = 100

  /// The server gets ciphertext only.
  fileprivate func uploadBundle(_ text: [UInt8]) async throws(ClientError) -> EncryptedFile {
    var (bytes, random) = (text, SecretSource.system)
    var cipher = AttachmentCipher(random: &random)
    cipher.encrypt(&bytes)
    let texts = cipher.texts
    guard
      let keys = FileKeys(
        key: ByteString(decoding: texts.key), counter: ByteString(decoding: texts.counter),
        digest: ByteString(decoding: texts.digest))
    else { throw .badAnswer }
    guard let file = TemporaryFile(bytes) else { throw .attachmentIsGone }
    defer { file.remove() }
    return EncryptedFile(try await upload(path: file.path, mimeType: "application/octet-stream"), keys)
  }

  /// Imports what the inviter offers. If it cannot be had, nobody tries again.
  func take(_ offer: HistoryOffer) async {
    if let file = EncryptedFile(offer.file) {
      do throws(ClientError) {
        // The cache has other limits, and would keep it.
        let sealed = try await fetch(file.source, nil, to: .memory, bytesLimit: Int64(RoomKeyBundle.bytesLimit), nil)
        await take(try await Self.opened(sealed, file.keys), offer)
      } catch {
        // It is told again after a restart.
        guard error.isFinal || error.isOfFile else { return }
      }
    }
    step { $0.handle(.historyTaken(offer.room, from: offer.giver), at: MatrixClient.now()) }
  }

  private func take(_ text: [UInt8], _ offer: HistoryOffer) async {
    guard let keys = await Self.read(text, offer) else { return }
    for start in stride(from: 0, to: keys.count, by: Self.keysOfStep) {
      let some = Array(keys[start..<min(start + Self.keysOfStep, keys.count)])
      guard await transferKeys({ .importKeys($0, some) }) != nil else { return }
    }
  }

  @concurrent private static func read(_ text: [UInt8], _ offer: HistoryOffer) async -> [RoomKey]? {
    (try? RoomKeyBundle(text, of: offer.room, from: offer.giver))?.keys
  }
}

extension ClientError {
  /// Whether the file itself is the reason: another try brings the same.
  fileprivate var isOfFile: Bool {
    switch self {
    case .damagedAttachment, .tooLarge: true
    default: false
    }
  }
}

extension EncryptedFile {
  fileprivate var json: JSON? {
    var writer = JSONWriter()
    write(to: &writer)
    return try? JSON.parse(writer.bytes)
  }
}
