import Encryption
import EncryptionLink
import JSON
import Olm

/// Key files that are being written or read, a slice at a time: the page says when to go on (`EncryptionRequest.proceed`), so that other work goes on
/// in between.
struct KeyFileActions {
  private enum Action {
    case export(passphrase: ByteString, keys: [RoomKey], next: Int)
    case take(keys: [RoomKey], next: Int, new: Int, unusable: Int)
  }

  private static let keysOfStep = 100

  private var running: [UInt64: Action] = [:]

  mutating func export(_ number: UInt64, passphrase: ByteString) -> MachineInput? {
    running[number] = .export(passphrase: passphrase, keys: [], next: 0)
    return next(number)
  }

  /// - Parameter file: its text.
  mutating func take(_ number: UInt64, _ file: [UInt8], passphrase: ByteString) -> EncryptionReport.Failure? {
    do throws(KeyFileRefusal) {
      let (keys, unusable) = try Self.keys(of: file, passphrase)
      running[number] = .take(keys: keys, next: 0, new: 0, unusable: unusable)
      return nil
    } catch {
      return error.failure
    }
  }

  /// What the machine does next for it; nil if it is over.
  func next(_ number: UInt64) -> MachineInput? {
    switch running[number] {
    case .export(_, _, let next): .exportKeys(number, of: nil, slice: UInt8(clamping: next))
    case .take(let keys, let next, _, _): .importKeys(number, Array(keys[next..<min(next + Self.keysOfStep, keys.count)]))
    case nil: nil
    }
  }

  /// What the page is told of a slice that is done.
  mutating func took(_ transfer: KeyTransfer, random: inout SecretSource) -> EncryptionReport.Delivery? {
    let number = transfer.number
    switch (running[number], transfer) {
    case (.export(let passphrase, var keys, let next), .exported(_, let some)):
      keys += some
      let count = EncryptionMachine.keySlices.count
      running[number] = .export(passphrase: passphrase, keys: keys, next: next + 1)
      guard next + 1 == count else { return .progress(number, done: UInt32(next + 1), of: UInt32(count)) }
      running[number] = nil
      guard let text = Self.file(of: keys, passphrase, random: &random) else {
        return .ended(number, .failed(.keyFileTooLarge))
      }
      return .ended(number, .done(ByteString(decoding: text)))
    case (.take(let keys, let next, let before, let unusable), .imported(_, let some)):
      let done = min(next + Self.keysOfStep, keys.count), new = before + some
      running[number] = .take(keys: keys, next: done, new: new, unusable: unusable)
      if done < keys.count { return .progress(number, done: UInt32(done), of: UInt32(keys.count)) }
      running[number] = nil
      return .ended(number, .imported(total: UInt32(keys.count), new: UInt32(new), unusable: UInt32(unusable)))
    default: return nil
    }
  }

  // MARK: Files

  private static func file(of keys: [RoomKey], _ passphrase: ByteString, random: inout SecretSource) -> [UInt8]? {
    let derivation = PassphraseKey(random: &random)
    let secret = derivation.derive(from: passphrase.utf8, byteCount: KeyFile.keysByteCount)
    return try? KeyFile.seal(ExportedRoomKey.file(of: keys), secret, derivation, random: &random)
  }

  private enum KeyFileRefusal: Error {
    case olm(OlmError, isCutOff: Bool)
    case contents

    var failure: EncryptionReport.Failure {
      switch self {
      case .olm(.wrongMAC, _): .wrongKey
      case .olm(.unknownVersion, _): .newerKeyFile
      case .olm(_, isCutOff: true): .keyFileCutOff
      case .olm, .contents: .notAKeyFile
      }
    }
  }

  private static func keys(of text: [UInt8], _ passphrase: ByteString) throws(KeyFileRefusal) -> (keys: [RoomKey], refused: Int)
  {
    let plaintext: [UInt8]
    do throws(OlmError) {
      let file = try KeyFile(text)
      plaintext = try file.open(file.passphraseKey.derive(from: passphrase.utf8, byteCount: KeyFile.keysByteCount))
    } catch {
      throw .olm(error, isCutOff: KeyFile.isCutOff(text))
    }
    do throws(RoomKeyRefusal) { return try ExportedRoomKey.keys(ofFile: plaintext) } catch { throw .contents }
  }
}
