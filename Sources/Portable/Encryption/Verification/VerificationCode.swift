import JSON
import MatrixModel
import Olm

/// What a QR code has: the keys of both sides, as the one that shows it knows them, and a secret by which the other proves that it has scanned it.
/// Spec: Client-Server API, "QR code format".
struct VerificationCode: Equatable, Sendable {
  enum Mode: UInt8, Sendable {
    case otherUser = 0
    /// Between own devices, shown by one that trusts the master key.
    case trusted = 1
    /// Shown by one that does not yet.
    case untrusted = 2
  }

  private static let head = Array("MATRIX".utf8), version: UInt8 = 2
  static let secretByteCount = 16
  /// The longest transaction, both keys, and a secret.
  static let byteLimit = 512

  let mode: Mode
  let transaction: ByteString
  let first: Ed25519Key
  let second: Ed25519Key
  let secret: [UInt8]

  /// The code that this side shows.
  init(_ parties: VerificationParties, _ transaction: ByteString, secret: [UInt8]) {
    self.transaction = transaction
    self.secret = secret
    if !parties.isOwn {
      (mode, first, second) = (.otherUser, parties.own.master, parties.other.master)
    } else if parties.isMasterTrusted {
      (mode, first, second) = (.trusted, parties.own.master, parties.other.keys.signing)
    } else {
      (mode, first, second) = (.untrusted, parties.own.keys.signing, parties.own.master)
    }
  }

  var bytes: [UInt8] {
    let id = transaction.utf8
    let count = [UInt8(truncatingIfNeeded: id.count >> 8), UInt8(truncatingIfNeeded: id.count)]
    return Self.head + [Self.version, mode.rawValue] + count + id + first.bytes + second.bytes + secret
  }

  /// Reads the bytes of a code that was scanned; nil if they are not a code for verification.
  init?(_ bytes: [UInt8]) {
    let keys = Ed25519Key.byteCount
    guard bytes.count <= Self.byteLimit, bytes.starts(with: Self.head + [Self.version]), bytes.count > Self.head.count + 4,
      let mode = Mode(rawValue: bytes[Self.head.count + 1])
    else { return nil }
    let start = Self.head.count + 4
    let end = start + Int(bytes[start - 2]) << 8 + Int(bytes[start - 1])
    // There is one byte of a secret at least.
    guard bytes.count > end + 2 * keys, let first = Ed25519Key(Array(bytes[end..<end + keys])),
      let second = Ed25519Key(Array(bytes[end + keys..<end + 2 * keys]))
    else { return nil }
    self.mode = mode
    transaction = ByteString(decoding: Array(bytes[start..<end]))
    self.first = first
    self.second = second
    secret = Array(bytes[(end + 2 * keys)...])
  }

  /// What this side has proven by scanning the code of the other.
  func verified(_ parties: VerificationParties) throws(CancelReason) -> VerifiedKeys {
    let (own, other) = (parties.own, parties.other)
    switch mode {
    case .otherUser:
      guard !parties.isOwn, first == other.master, second == own.master else { throw .keyMismatch }
      return .user(other.user, master: other.master)
    case .trusted:
      guard parties.isOwn, first == own.master, second == own.keys.signing else { throw .keyMismatch }
      return .ownMaster(own.master, by: other.keys)
    case .untrusted:
      guard parties.isOwn, parties.isMasterTrusted, first == other.keys.signing, second == own.master else {
        throw .keyMismatch
      }
      return .ownDevice(other.keys)
    }
  }

  /// What the side that shows the code has proven once the other has scanned it.
  static func verified(byShowing parties: VerificationParties) -> VerifiedKeys {
    guard parties.isOwn else { return .user(parties.other.user, master: parties.other.master) }
    return parties.isMasterTrusted
      ? .ownDevice(parties.other.keys) : .ownMaster(parties.own.master, by: parties.other.keys)
  }
}
