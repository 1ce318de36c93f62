import JSON

/// What a person does about keys.
package enum EncryptionAction: Equatable, Sendable {
  /// Makes the account's cross-signing keys if it has none.
  case setUpIdentity
  /// Makes others in place of those that there are.
  case resetIdentity
  /// Ends with the recovery key as text.
  case setUpRecovery
  case inspectRecovery
  /// With a recovery key or a passphrase.
  case recover(ByteString)
  /// The cross-signing keys that the user has now.
  case acceptIdentity(of: ByteString)
  /// Begins a verification with another device of the user; with all of them where it is empty. Ends with `Outcome.verification`.
  case verifyDevice(ByteString)
  /// Begins a verification with another user in a room, which should be a direct one. Ends with `Outcome.verification`.
  case verifyUser(ByteString, room: ByteString)
  case verification(UInt64, VerificationAction)
  /// What the page can do with QR codes: later verifications offer that. All of it until this is said.
  case offer(showsCodes: Bool, scansCodes: Bool)
  /// Ends with `Outcome.trust`.
  case inspect(user: ByteString)
  /// Ends with the text of a key file.
  case exportKeys(passphrase: ByteString)
  /// Takes the keys of a key file. Ends with `EncryptionReport.Outcome.imported`.
  case importKeys([UInt8], passphrase: ByteString)
  /// Encrypts the keys of a room that members who come later may have. Ends with `Outcome.sealed`; with `done` if there are none.
  case makeHistory(room: ByteString)
  /// Tells the devices that a user has signed where that lies, as `EncryptedFile` in JSON. Fails with `unverified` if there are none.
  case giveHistory(room: ByteString, to: ByteString, file: [UInt8])
  /// Takes the keys of a history, as `Delivery.history` has offered it. Empty if it cannot be had. Ends with `Outcome.imported`.
  case takeHistory(room: ByteString, from: ByteString, SealedFile)
  /// Ends with `Outcome.users`: the other users who are verified.
  case listVerified
  /// Ends with a text: what is known of this device's encryption, for a report. It has no secrets.
  case diagnose
  /// Asks the user's other devices for the keys that messages of the room lack. Fails with `unverified` if none of them is verified.
  case askForKeys(room: ByteString)
  /// Sets which devices get the keys of rooms.
  case setReaders(EncryptionReport.Readers)
  /// Sends an event to those of the devices that may have keys of rooms. Ends with `Outcome.told`.
  case tell(DeviceEvent, [LinkDevice])

  /// The ciphertext of a file, and what opens it: as events have it, in base64.
  package struct SealedFile: Equatable, Sendable {
    package var bytes: [UInt8]
    package var key: ByteString
    package var counter: ByteString
    package var digest: ByteString

    package init(bytes: [UInt8], key: ByteString, counter: ByteString, digest: ByteString) {
      self.bytes = bytes
      self.key = key
      self.counter = counter
      self.digest = digest
    }
  }
}

// MARK: As bytes

extension EncryptionAction {
  func write(to writer: inout LinkWriter) {
    switch self {
    case .setUpIdentity: writer.write(kind: 0)
    case .setUpRecovery: writer.write(kind: 1)
    case .inspectRecovery: writer.write(kind: 2)
    case .recover(let text):
      writer.write(kind: 3)
      writer.write(text)
    case .acceptIdentity(let user):
      writer.write(kind: 4)
      writer.write(user)
    case .resetIdentity: writer.write(kind: 5)
    case .verifyDevice(let device):
      writer.write(kind: 6)
      writer.write(device)
    case .verifyUser(let user, let room):
      writer.write(kind: 7)
      writer.write(user)
      writer.write(room)
    case .verification(let id, let action):
      writer.write(kind: 8)
      writer.write(id)
      action.write(to: &writer)
    case .inspect(let user):
      writer.write(kind: 9)
      writer.write(user)
    case .offer(let showsCodes, let scansCodes):
      writer.write(kind: 10)
      writer.write(showsCodes)
      writer.write(scansCodes)
    case .exportKeys(let passphrase):
      writer.write(kind: 11)
      writer.write(passphrase)
    case .importKeys(let file, let passphrase):
      writer.write(kind: 12)
      writer.write(file)
      writer.write(passphrase)
    case .makeHistory(let room):
      writer.write(kind: 20)
      writer.write(room)
    case .giveHistory(let room, let user, let file):
      writer.write(kind: 21)
      writer.write(room)
      writer.write(user)
      writer.write(file)
    case .takeHistory(let room, let user, let file):
      writer.write(kind: 22)
      writer.write(room)
      writer.write(user)
      file.write(to: &writer)
    case .askForKeys(let room):
      writer.write(kind: 23)
      writer.write(room)
    case .listVerified: writer.write(kind: 24)
    case .diagnose: writer.write(kind: 25)
    case .setReaders(let readers):
      writer.write(kind: 26)
      writer.write(kind: readers.rawValue)
    case .tell(let event, let devices):
      writer.write(kind: 30)
      writer.write(event)
      writer.write(devices) { $0.write($1) }
    }
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .setUpIdentity
    case 1: self = .setUpRecovery
    case 2: self = .inspectRecovery
    case 3: self = .recover(try reader.text())
    case 4: self = .acceptIdentity(of: try reader.text())
    case 5: self = .resetIdentity
    case 6: self = .verifyDevice(try reader.text())
    case 7: self = .verifyUser(try reader.text(), room: try reader.text())
    case 8: self = .verification(try reader.uint64(), try VerificationAction(&reader))
    case 9: self = .inspect(user: try reader.text())
    case 10: self = .offer(showsCodes: try reader.flag(), scansCodes: try reader.flag())
    case 11: self = .exportKeys(passphrase: try reader.text())
    case 12: self = .importKeys(try reader.bytes(), passphrase: try reader.text())
    case 20: self = .makeHistory(room: try reader.text())
    case 21: self = .giveHistory(room: try reader.text(), to: try reader.text(), file: try reader.bytes())
    case 22: self = .takeHistory(room: try reader.text(), from: try reader.text(), try SealedFile(&reader))
    case 23: self = .askForKeys(room: try reader.text())
    case 24: self = .listVerified
    case 25: self = .diagnose
    case 26:
      guard let readers = EncryptionReport.Readers(rawValue: try reader.byte()) else { throw .unknownKind }
      self = .setReaders(readers)
    case 30: self = .tell(try reader.deviceEvent(), try reader.devices())
    default: throw .unknownKind
    }
  }
}

extension EncryptionAction.SealedFile {
  func write(to writer: inout LinkWriter) {
    writer.write(bytes)
    writer.write(key)
    writer.write(counter)
    writer.write(digest)
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    self.init(bytes: try reader.bytes(), key: try reader.text(), counter: try reader.text(), digest: try reader.text())
  }
}
