import ClientCore
import Encryption
import MatrixModel
import Olm

/// Keys of rooms in a file that a passphrase opens, as other clients read and write them. Spec: Client-Server API, "Key exports".
extension MatrixEncryption {
  /// What an import did.
  public struct ImportedKeys: Equatable, Sendable {
    /// Keys in the file.
    public let total: Int
    /// Keys that read messages that could not be read before.
    public let new: Int
    /// Entries of the file that are not keys of rooms.
    public let unusable: Int
  }

  /// In order. The total of an export is counted in parts of the store, that of an import in keys.
  public typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

  private static let keysOfStep = 100

  /// Writes the keys of all rooms, or of one, into a file that only its owner may read. A file that is there already is replaced, and stays as it is if
  /// the export fails.
  /// - Returns: the number of keys.
  @discardableResult
  public func exportRoomKeys(
    of room: RoomID? = nil, passphrase: String, to path: String, progress: Progress? = nil
  ) async throws(KeyFileError) -> Int {
    guard !passphrase.isEmpty else { throw .noPassphrase }
    var keys: [RoomKey] = []
    for slice in EncryptionMachine.keySlices {
      let transfer = await client.transferKeys { .exportKeys($0, of: room, slice: slice) }
      guard case .exported(_, let some)? = transfer else { throw Task.isCancelled ? .cancelled : .noEncryption }
      keys += some
      progress?(Int(slice) + 1, EncryptionMachine.keySlices.count)
      if Task.isCancelled { throw .cancelled }
    }
    let text = try await Self.sealed(keys, passphrase)
    guard PrivateFile.replace(path, with: text) else { throw .unwritableFile }
    return keys.count
  }

  /// Takes the keys of a file. What could not be read is read at once, if one of them reads it. A key that a device sent to this one itself is never replaced:
  /// those of a file only name the device that they are of.
  /// - Throws: before anything is taken; but `cancelled` and `noEncryption` also between two keys.
  public func importRoomKeys(
    passphrase: String, from path: String, progress: Progress? = nil
  ) async throws(KeyFileError) -> ImportedKeys {
    let (keys, unusable) = try await Self.opened(path, passphrase)
    var new = 0
    for start in stride(from: 0, to: keys.count, by: Self.keysOfStep) {
      if Task.isCancelled { throw .cancelled }
      let step = Array(keys[start..<min(start + Self.keysOfStep, keys.count)])
      let transfer = await client.transferKeys { .importKeys($0, step) }
      guard case .imported(_, let count)? = transfer else { throw .noEncryption }
      new += count
      progress?(start + step.count, keys.count)
    }
    return ImportedKeys(total: keys.count, new: new, unusable: unusable)
  }

  // MARK: Files

  @concurrent private static func sealed(_ keys: [RoomKey], _ passphrase: String) async throws(KeyFileError) -> [UInt8] {
    var random = SecretSource.system
    let derivation = PassphraseKey(random: &random)
    let secret = derivation.derive(from: Array(passphrase.utf8), byteCount: KeyFile.keysByteCount)
    do throws(OlmError) { return try KeyFile.seal(ExportedRoomKey.file(of: keys), secret, derivation, random: &random) } catch {
      throw .tooLarge(limitBytes: KeyFile.textBytesLimit)
    }
  }

  @concurrent private static func opened(
    _ path: String, _ passphrase: String
  ) async throws(KeyFileError) -> (keys: [RoomKey], refused: Int) {
    guard let size = FileSize.bytes(of: path) else { throw .unreadableFile }
    guard size <= KeyFile.textBytesLimit else { throw .tooLarge(limitBytes: KeyFile.textBytesLimit) }
    guard let text = PrivateFile.read(path, limit: KeyFile.textBytesLimit) else { throw .unreadableFile }
    let plaintext: [UInt8]
    do throws(OlmError) {
      let file = try KeyFile(text)
      let secret = file.passphraseKey.derive(from: Array(passphrase.utf8), byteCount: KeyFile.keysByteCount)
      plaintext = try file.open(secret)
    } catch {
      switch error {
      case .wrongMAC: throw .wrongPassphrase
      case .unknownVersion: throw .unknownVersion
      default: throw KeyFile.isCutOff(text) ? .cutOff : .notAKeyFile
      }
    }
    do throws(RoomKeyRefusal) { return try ExportedRoomKey.keys(ofFile: plaintext) } catch { throw .notAKeyFile }
  }
}

/// Why keys are not exported or imported.
public enum KeyFileError: Error, Equatable, Sendable {
  /// The passphrase is empty.
  case noPassphrase
  /// The passphrase is another one, or the file was changed: nobody can tell the two apart.
  case wrongPassphrase
  case notAKeyFile
  /// The end of the file is missing.
  case cutOff
  /// The file is of a later version of the format.
  case unknownVersion
  case tooLarge(limitBytes: Int)
  case unreadableFile
  case unwritableFile
  /// The client has no session or no keys: it is signed out, was made without encryption, or cannot go on with its store.
  case noEncryption
  case cancelled

  /// A sentence in English that says what to do.
  public var english: String {
    switch self {
    case .noPassphrase: "A key file needs a passphrase."
    case .wrongPassphrase: "The passphrase is wrong, or the file was damaged. Try again with the passphrase of the export."
    case .notAKeyFile: "This is not a file of room keys. Choose the file that the other client has exported."
    case .cutOff: "The end of the file is missing. Copy it again, or export it again."
    case .unknownVersion: "The file was written by a newer version. Update this program, then try again."
    case .tooLarge(let limit): "A key file has at most \(limit / 1_048_576) MiB. Export one room at a time."
    case .unreadableFile: "The file cannot be read. Check its name and whether you may read it."
    case .unwritableFile: "The file cannot be written. Check the folder and the space on the disk."
    case .noEncryption: "This client has no keys. Sign in first."
    case .cancelled: "It was cancelled."
    }
  }
}

extension MatrixClient {
  /// Hands keys in or out; nil if there is no encryption, or none any more.
  func transferKeys(_ input: sending (UInt64) -> MachineInput) async -> KeyTransfer? {
    guard encryptionHost != nil, !isStopped else { return nil }
    lastKeyTransfer += 1
    let input = input(lastKeyTransfer)
    return await withCheckedContinuation { continuation in
      keyTransfers[lastKeyTransfer] = continuation
      step { $0.handle(input, at: MatrixClient.now()) }
    }
  }

  func end(_ transfer: KeyTransfer) { keyTransfers.removeValue(forKey: transfer.number)?.resume(returning: transfer) }

  func endKeyTransfers() {
    let waiters = keyTransfers.values
    keyTransfers = [:]
    for waiter in waiters { waiter.resume(returning: nil) }
  }
}
