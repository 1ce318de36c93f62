import Encryption
import JSON
import Olm

/// Actions that are more than one command of the machine.
struct RunningActions {
  /// What people have typed to recover with, by the number of the action: the description of the account's key comes first.
  var recoveries: [UInt64: ByteString] = [:]
  /// The keys of recoveries that are set up.
  var recoveryKeys: [UInt64: [UInt8]] = [:]

  /// Takes the end of a first part out of the step. Returns the command that follows it.
  mutating func takeNext(_ step: inout EncryptionStep) -> (number: UInt64, command: EncryptionCommand)? {
    for (place, delivery) in step.later.enumerated() {
      if case .ended(let number, .failed) = delivery {
        recoveries[number] = nil
        recoveryKeys[number] = nil
      }
      guard case .ended(let number, .recovery(let found)) = delivery, let text = recoveries.removeValue(forKey: number) else {
        continue
      }
      guard let description = found.key else {
        step.later[place] = .ended(number, .failed(.incomplete))
        continue
      }
      guard let secret = Self.secret(of: text, description) else {
        step.later[place] = .ended(number, .failed(.wrongKey))
        continue
      }
      step.later.remove(at: place)
      return (number, .recover(description, secret))
    }
    return nil
  }

  /// nil where it is no recovery key, and the account has no passphrase.
  private static func secret(of text: ByteString, _ description: StorageKeyDescription) -> Secret? {
    if let key = try? RecoveryKey(text: Array(text.utf8)) { return key.secret }
    return description.passphrase?.derive(from: Array(text.utf8), byteCount: 32)
  }
}
