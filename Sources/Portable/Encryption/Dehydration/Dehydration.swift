import JSON
import MatrixModel
import Olm

/// The user's device without a client (a dehydrated device): it gets keys of rooms while the user is signed out everywhere. Its private keys lie at
/// the server, sealed under a key of secret storage.
///
/// A value: it is stored with each batch that changes it. Source: MSC3814.
struct Dehydration: Sendable {
  /// Requests, one after the other.
  enum Step: Sendable {
    /// Deletes the device, which another identity has signed.
    case delete
    /// Fetches the device whose messages are still to be read.
    case find
    /// The next page of its messages.
    case page
    /// Sees whether the present device is sealed with this key, before another takes its place.
    case compare
    /// Puts a new one in its place.
    case upload
  }

  static let lifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000
  /// A server that refused a device gets another one so much later.
  static let pauseMilliseconds: Int64 = 24 * 60 * 60 * 1_000

  /// Seals the device. nil until secret storage or another device gave it, or it was made for a new recovery key.
  private(set) var key: Secret?
  /// When this client made the present device, in milliseconds since 1970; nil to make one.
  private(set) var madeAt: Int64?
  /// Whether what came to the present device is still to be read. It stays so until all is stored: a crash begins with the first page again.
  private(set) var isUnread = false
  /// Whether the present device is to be deleted.
  private(set) var isObsolete = false
  /// The messages that are read now.
  var reading: Rehydration?
  /// Keys of rooms that the device brought since the start.
  private(set) var keysRead = 0
  /// Why the device before could not be read, since the start.
  private(set) var failure: RehydrationFailure?
  var isAsking = false
  /// Whether the present device was compared.
  private var isCompared = false
  private var refusedAt: Int64?
  private(set) var isUnstored = false

  init() {}

  mutating func markStored() { isUnstored = false }

  // MARK: The key

  /// A key that others of the user have used: what came to their device is read first.
  mutating func take(_ key: Secret) {
    guard self.key.map({ !$0.isEqual(to: key) }) ?? true else { return }
    use(key)
    isUnread = true
  }

  /// A key that no device was sealed with yet.
  mutating func use(_ key: Secret) {
    if let known = self.key, known.isEqual(to: key) { return }
    (self.key, madeAt, isUnread, reading, refusedAt) = (key, nil, false, nil, nil)
    isUnstored = true
  }

  /// The user has another identity: it has not signed the device, which gets no keys any more.
  mutating func forget() {
    self = Dehydration()
    (isObsolete, isUnstored) = (true, true)
  }

  // MARK: Steps

  /// - Parameter canSign: whether this client could make a new one now.
  func nextStep(canSign: Bool, at now: Int64) -> Step? {
    guard !isAsking else { return nil }
    if isObsolete { return .delete }
    guard key != nil else { return nil }
    if isUnread { return reading == nil ? .find : .page }
    guard canSign, let nextUpload, nextUpload <= now else { return nil }
    return madeAt == nil || isCompared ? .upload : .compare
  }

  /// When the next device is due, in milliseconds since 1970.
  var nextUpload: Int64? {
    guard key != nil, !isUnread, !isObsolete else { return nil }
    return refusedAt.map { $0 + Self.pauseMilliseconds } ?? madeAt.map { $0 + Self.lifetimeMilliseconds } ?? 0
  }

  mutating func deleted() {
    isObsolete = false
    isUnstored = true
  }

  /// - Parameter failure: why this key does not open the present device. Another client of the user has made it with a newer key: this one is of no
  ///   more use. What a newer client made stays for it.
  mutating func compared(_ failure: RehydrationFailure?, at now: Int64) {
    switch failure {
    case .wrongKey:
      self = Dehydration()
      isUnstored = true
    case .unknownFormat: uploaded(at: now)
    case nil, .malformed, .tooManyMessages: isCompared = true
    }
  }

  mutating func uploaded(at now: Int64) {
    (madeAt, refusedAt, isCompared) = (now, nil, false)
    isUnstored = true
  }

  mutating func uploadRefused(at now: Int64) { refusedAt = now }

  mutating func noteKeys(_ count: Int) { keysRead += count }

  /// All is read, or cannot be. Another device takes the place of this one; but what a newer client made stays for it.
  mutating func endReading(_ failure: RehydrationFailure? = nil, at now: Int64) {
    self.failure = failure
    (isUnread, reading) = (false, nil)
    madeAt = failure == .unknownFormat ? now : nil
    isUnstored = true
  }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      if let key { writer.member("key", base64: key.exposed()) }
      if let madeAt { writer.member("made", madeAt) }
      writer.member("unread", isUnread)
      writer.member("obsolete", isObsolete)
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    key = json["key"] == nil ? nil : Secret(try json.bytes("key"))
    guard key?.count ?? DehydratedAccount.keyByteCount == DehydratedAccount.keyByteCount else { throw .unreadable }
    madeAt = json.integer("made")
    isUnread = try json.flag("unread")
    isObsolete = try json.flag("obsolete")
  }
}

/// Why the messages of a dehydrated device were not read, or not all. Another device takes its place.
package enum RehydrationFailure: Error, Hashable, Sendable {
  /// The key of secret storage does not open it, or the server has changed it.
  case wrongKey
  /// What the server gives is not a device.
  case malformed
  /// A newer client has made it.
  case unknownFormat
  /// It got more messages than `EncryptionLimits.eventsOfDehydrated`. The first ones were read.
  case tooManyMessages
}

extension RecordNames {
  static let dehydration: ByteString = "e/dehydrated"
}
