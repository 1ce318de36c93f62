import JSON

extension EncryptionReport {
  /// A verification under way, or one that has ended (`EncryptionAction.verification` with `cancel` forgets it). See `Verification` of the machine.
  package struct Verification: Equatable, Sendable {
    package var id: UInt64
    package var user: ByteString
    /// Empty until a device has accepted.
    package var device: ByteString
    /// Where the messages are sent; empty between the user's devices.
    package var room: ByteString
    /// Between two devices of the user.
    package var isOwn: Bool
    /// Whether this device has asked for it.
    package var isOurs: Bool
    /// When it times out: milliseconds since 1970.
    package var deadline: Int64
    package var stage: Stage

    package init(
      id: UInt64, user: ByteString, device: ByteString, room: ByteString, isOwn: Bool, isOurs: Bool, deadline: Int64,
      stage: Stage
    ) {
      self.id = id
      self.user = user
      self.device = device
      self.room = room
      self.isOwn = isOwn
      self.isOurs = isOurs
      self.deadline = deadline
      self.stage = stage
    }
  }

  package enum Stage: Equatable, Sendable {
    /// By the other side, if it is not `isOurs`: the person accepts it or not.
    case requested
    /// - code: the bytes for the QR code that the other side can scan; empty if it cannot.
    case ready(canCompare: Bool, code: [UInt8], canScan: Bool)
    case agreeing
    /// - emoji: seven, or none if the other side cannot show them. Then the three numbers are compared.
    case comparing(emoji: [Emoji], decimals: [UInt32])
    /// The other side has scanned our code. The person says whether it shows success.
    case scanned
    /// The person has confirmed, and the other side has not yet.
    case confirmed
    case done
    case cancelled(CancelReason, isByUs: Bool)
  }

  package struct Emoji: Equatable, Sendable {
    /// From 0 to 63: names it in other languages.
    package var number: UInt8
    package var symbol: ByteString
    /// In English.
    package var name: ByteString

    package init(number: UInt8, symbol: ByteString, name: ByteString) {
      self.number = number
      self.symbol = symbol
      self.name = name
    }
  }

  package enum CancelReason: UInt8, Sendable {
    case user, timeout, unknownTransaction, unknownMethod, unexpectedMessage
    /// The keys are not those that this side knows: somebody may be in between.
    case keyMismatch
    case userMismatch, invalidMessage
    /// Another device of the user has accepted.
    case accepted
    /// Somebody has tried to choose what both sides show.
    case mismatchedCommitment
    /// One of the two said that the sides show different things.
    case mismatchedSAS
    case other
  }
}

// MARK: As bytes

extension EncryptionReport.Verification {
  func write(to writer: inout LinkWriter) {
    writer.write(id)
    writer.write(user)
    writer.write(device)
    writer.write(room)
    writer.write(isOwn)
    writer.write(isOurs)
    writer.write(deadline)
    stage.write(to: &writer)
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    self.init(
      id: try reader.uint64(), user: try reader.text(), device: try reader.text(), room: try reader.text(),
      isOwn: try reader.flag(), isOurs: try reader.flag(), deadline: try reader.int64(),
      stage: try EncryptionReport.Stage(&reader))
  }
}

extension EncryptionReport.Stage {
  fileprivate func write(to writer: inout LinkWriter) {
    switch self {
    case .requested: writer.write(kind: 0)
    case .ready(let canCompare, let code, let canScan):
      writer.write(kind: 1)
      writer.write(canCompare)
      writer.write(code)
      writer.write(canScan)
    case .agreeing: writer.write(kind: 2)
    case .comparing(let emoji, let decimals):
      writer.write(kind: 3)
      writer.write(emoji) { writer, one in
        writer.write(kind: one.number)
        writer.write(one.symbol)
        writer.write(one.name)
      }
      writer.write(decimals) { $0.write($1) }
    case .scanned: writer.write(kind: 4)
    case .confirmed: writer.write(kind: 5)
    case .done: writer.write(kind: 6)
    case .cancelled(let reason, let isByUs):
      writer.write(kind: 7)
      writer.write(kind: reason.rawValue)
      writer.write(isByUs)
    }
  }

  fileprivate init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .requested
    case 1: self = .ready(canCompare: try reader.flag(), code: try reader.bytes(), canScan: try reader.flag())
    case 2: self = .agreeing
    case 3:
      let emoji = try reader.list { (one) throws(LinkError) in
        EncryptionReport.Emoji(number: try one.byte(), symbol: try one.text(), name: try one.text())
      }
      self = .comparing(emoji: emoji, decimals: try reader.list { (one) throws(LinkError) in try one.uint32() })
    case 4: self = .scanned
    case 5: self = .confirmed
    case 6: self = .done
    case 7:
      guard let reason = EncryptionReport.CancelReason(rawValue: try reader.byte()) else { throw .unknownKind }
      self = .cancelled(reason, isByUs: try reader.flag())
    default: throw .unknownKind
    }
  }
}
