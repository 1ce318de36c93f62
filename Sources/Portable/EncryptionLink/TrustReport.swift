import JSON

extension EncryptionReport {
  /// What views show.
  package struct State: Equatable, Sendable {
    package enum Backup: UInt8, Sendable { case off, on, replaced, deleted }

    /// Whether the account has cross-signing keys.
    package var hasIdentity = false
    package var isVerified = false
    package var backup = Backup.off
    /// Keys of the backup that are here, of how many; of none where nothing is restored.
    package var restored: UInt32 = 0
    package var restoring: UInt32 = 0
    /// In the order of their IDs. Nothing is sent to rooms with them until the person has accepted it.
    package var changed: [ChangedIdentity] = []
    /// When the keys of users changed last, whether that was accepted or not; the oldest first.
    package var keyChanges: [KeyChange] = []
    package var readers = Readers.signedIfAny
    package var dehydrated = Dehydrated.none
    /// Why the dehydrated device before could not be read, or not all of it.
    package var dehydratedFailure: DehydratedFailure?

    package init() {}
  }

  /// The device without a client that takes keys of rooms while the user is signed out everywhere. Source: MSC3814.
  package enum Dehydrated: Equatable, Sendable {
    case none
    /// So many messages of the one that the user left behind are read, with so many keys of rooms.
    case reading(messages: UInt32, keys: UInt32)
    /// The server has one; the one before brought so many keys since the start.
    case ready(keys: UInt32)
  }

  package enum DehydratedFailure: UInt8, Sendable { case wrongKey, malformed, unknownFormat, tooManyMessages }

  /// Which devices get the keys of rooms.
  package enum Readers: UInt8, Sendable {
    /// Devices that their users have signed, and all of users who sign none.
    case signedIfAny
    case signed
    /// Signed devices of users who are verified.
    case verified
    case all
  }

  /// What is known of a user's keys.
  package struct Trust: Equatable, Sendable {
    package var hasIdentity: Bool
    /// For the own user: whether this device is verified.
    package var isVerified: Bool
    /// Whether the user has other keys now than those that were accepted.
    package var hasChanged: Bool
    package var devices: [Device]
    /// IDs of devices whose keys cannot be theirs.
    package var refused: [ByteString]

    package init(
      hasIdentity: Bool, isVerified: Bool, hasChanged: Bool = false, devices: [Device], refused: [ByteString] = []
    ) {
      self.hasIdentity = hasIdentity
      self.isVerified = isVerified
      self.hasChanged = hasChanged
      self.devices = devices
      self.refused = refused
    }
  }

  package struct Device: Equatable, Sendable {
    package var id: ByteString
    /// What its owner calls it; empty without one.
    package var name: ByteString
    /// Whether its user has signed it.
    package var isSigned: Bool
    /// Whether `Trust.isVerified` holds, too.
    package var isVerified: Bool

    package init(id: ByteString, name: ByteString = "", isSigned: Bool = true, isVerified: Bool) {
      self.id = id
      self.name = name
      self.isSigned = isSigned
      self.isVerified = isVerified
    }
  }

  /// A user with other cross-signing keys than those that were accepted.
  package struct ChangedIdentity: Equatable, Sendable {
    package var user: ByteString
    package var wasVerified: Bool

    package init(user: ByteString, wasVerified: Bool) {
      self.user = user
      self.wasVerified = wasVerified
    }
  }

  /// The server has given other cross-signing keys of a user than before.
  package struct KeyChange: Equatable, Sendable {
    package var user: ByteString
    /// When this device has seen it first, in milliseconds since 1970.
    package var at: Int64

    package init(user: ByteString, at: Int64) {
      self.user = user
      self.at = at
    }
  }

  /// Something about the keys of a user, while it happens.
  package struct News: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
      case deviceAppeared, deviceGone, deviceRefused, signatureHidden, identityChanged, identityHidden, namesCollided
    }

    package var kind: Kind
    package var user: ByteString
    /// Empty for what concerns the user's identity.
    package var device: ByteString

    package init(_ kind: Kind, of user: ByteString, device: ByteString = "") {
      self.kind = kind
      self.user = user
      self.device = device
    }
  }
}

// MARK: As bytes

extension EncryptionReport.State {
  func write(to writer: inout LinkWriter) {
    writer.write(hasIdentity)
    writer.write(isVerified)
    writer.write(kind: backup.rawValue)
    writer.write(restored)
    writer.write(restoring)
    writer.write(changed) { $1.write(to: &$0) }
    writer.write(keyChanges) { $1.write(to: &$0) }
    writer.write(kind: readers.rawValue)
    dehydrated.write(to: &writer)
    writer.write(kind: dehydratedFailure.map { $0.rawValue + 1 } ?? 0)
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    hasIdentity = try reader.flag()
    isVerified = try reader.flag()
    guard let backup = Backup(rawValue: try reader.byte()) else { throw .unknownKind }
    self.backup = backup
    restored = try reader.uint32()
    restoring = try reader.uint32()
    changed = try reader.list { (one) throws(LinkError) in try EncryptionReport.ChangedIdentity(&one) }
    keyChanges = try reader.list { (one) throws(LinkError) in try EncryptionReport.KeyChange(&one) }
    guard let readers = EncryptionReport.Readers(rawValue: try reader.byte()) else { throw .unknownKind }
    self.readers = readers
    dehydrated = try EncryptionReport.Dehydrated(&reader)
    let failure = try reader.byte()
    guard failure > 0 else { return }
    guard let known = EncryptionReport.DehydratedFailure(rawValue: failure - 1) else { throw .unknownKind }
    dehydratedFailure = known
  }
}

extension EncryptionReport.Trust {
  func write(to writer: inout LinkWriter) {
    writer.write(hasIdentity)
    writer.write(isVerified)
    writer.write(hasChanged)
    writer.write(devices) { writer, device in
      writer.write(device.id)
      writer.write(device.name)
      writer.write(device.isSigned)
      writer.write(device.isVerified)
    }
    writer.write(refused) { $0.write($1) }
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    self.init(
      hasIdentity: try reader.flag(), isVerified: try reader.flag(), hasChanged: try reader.flag(),
      devices: try reader.list { (one) throws(LinkError) in
        EncryptionReport.Device(
          id: try one.text(), name: try one.text(), isSigned: try one.flag(), isVerified: try one.flag())
      }, refused: try reader.list { (one) throws(LinkError) in try one.text() })
  }
}

extension EncryptionReport.ChangedIdentity {
  func write(to writer: inout LinkWriter) {
    writer.write(user)
    writer.write(wasVerified)
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    self.init(user: try reader.text(), wasVerified: try reader.flag())
  }
}

extension EncryptionReport.Dehydrated {
  func write(to writer: inout LinkWriter) {
    switch self {
    case .none: writer.write(kind: 0)
    case .reading(let messages, let keys):
      writer.write(kind: 1)
      writer.write(messages)
      writer.write(keys)
    case .ready(let keys):
      writer.write(kind: 2)
      writer.write(keys)
    }
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .none
    case 1: self = .reading(messages: try reader.uint32(), keys: try reader.uint32())
    case 2: self = .ready(keys: try reader.uint32())
    default: throw .unknownKind
    }
  }
}

extension EncryptionReport.KeyChange {
  func write(to writer: inout LinkWriter) {
    writer.write(user)
    writer.write(at)
  }

  init(_ reader: inout LinkReader) throws(LinkError) { self.init(user: try reader.text(), at: try reader.int64()) }
}

extension EncryptionReport.News {
  func write(to writer: inout LinkWriter) {
    writer.write(kind: kind.rawValue)
    writer.write(user)
    writer.write(device)
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    guard let kind = Kind(rawValue: try reader.byte()) else { throw .unknownKind }
    self.init(kind, of: try reader.text(), device: try reader.text())
  }
}
