import Encryption
import EncryptionLink
import JSON
import MatrixModel
import Olm

/// Histories of rooms (`RoomKeyBundle`) that are being made for somebody, or taken from somebody: a slice at a time, like `KeyFileActions`.
struct HistoryActions {
  private enum Action {
    case make(RoomID, keys: [RoomKey], next: Int)
    /// The machine is told when all are imported.
    case take(RoomID, from: UserID, keys: [RoomKey], next: Int, new: Int)
  }

  private static let keysOfStep = 100

  private var running: [UInt64: Action] = [:]

  mutating func make(_ number: UInt64, of room: RoomID) -> MachineInput? {
    running[number] = .make(room, keys: [], next: 0)
    return next(number)
  }

  /// What is damaged, or empty, has no keys: nobody tries again.
  mutating func take(_ number: UInt64, _ file: EncryptionAction.SealedFile, of room: RoomID, from giver: UserID)
    -> MachineInput?
  {
    running[number] = .take(room, from: giver, keys: Self.keys(of: file, room, giver), next: 0, new: 0)
    return next(number)
  }

  /// What the machine does next for it; nil if it is over.
  func next(_ number: UInt64) -> MachineInput? {
    switch running[number] {
    case .make(let room, _, let next): .exportKeys(number, of: room, slice: UInt8(clamping: next))
    case .take(let room, let giver, let keys, let next, _) where next == keys.count: .historyTaken(room, from: giver)
    case .take(_, _, let keys, let next, _):
      .importKeys(number, Array(keys[next..<min(next + Self.keysOfStep, keys.count)]))
    case nil: nil
    }
  }

  /// What the page is told of a slice that is done.
  mutating func took(_ transfer: KeyTransfer, random: inout SecretSource) -> EncryptionReport.Delivery? {
    let number = transfer.number
    switch (running[number], transfer) {
    case (.make(let room, var keys, let next), .exported(_, let some)):
      keys += some
      let count = EncryptionMachine.keySlices.count
      running[number] = .make(room, keys: keys, next: next + 1)
      guard next + 1 == count else { return .progress(number, done: UInt32(next + 1), of: UInt32(count)) }
      running[number] = nil
      return .ended(number, Self.file(of: keys, random: &random).map { .sealed($0) } ?? .done(""))
    case (.take(let room, let giver, let keys, let next, let before), .imported(_, let some)):
      let done = min(next + Self.keysOfStep, keys.count)
      running[number] = .take(room, from: giver, keys: keys, next: done, new: before + some)
      return .progress(number, done: UInt32(done), of: UInt32(keys.count))
    default: return nil
    }
  }

  /// Takes the end of an action whose last input the machine has.
  mutating func takeEnd(_ number: UInt64) -> EncryptionReport.Delivery? {
    guard case .take(_, _, let keys, let next, let new) = running[number], next == keys.count else { return nil }
    running[number] = nil
    return .ended(number, .imported(total: UInt32(keys.count), new: UInt32(new), unusable: 0))
  }

  // MARK: Files

  /// nil if nobody else may have any of the keys.
  private static func file(of keys: [RoomKey], random: inout SecretSource) -> EncryptionAction.SealedFile? {
    guard var bytes = RoomKeyBundle.text(of: keys) else { return nil }
    var cipher = AttachmentCipher(random: &random)
    cipher.encrypt(&bytes)
    let texts = cipher.texts
    return EncryptionAction.SealedFile(
      bytes: bytes, key: ByteString(decoding: texts.key), counter: ByteString(decoding: texts.counter),
      digest: ByteString(decoding: texts.digest))
  }

  private static func keys(of file: EncryptionAction.SealedFile, _ room: RoomID, _ giver: UserID) -> [RoomKey] {
    guard file.bytes.count <= RoomKeyBundle.bytesLimit else { return [] }
    var bytes = file.bytes
    do throws(OlmError) {
      var reader = try AttachmentReader(
        keyText: Array(file.key.utf8), counter: Array(file.counter.utf8), digest: Array(file.digest.utf8))
      reader.decrypt(&bytes)
      try reader.verify()
    } catch {
      return []
    }
    return (try? RoomKeyBundle(bytes, of: room, from: giver))?.keys ?? []
  }
}
