import JSON
import MatrixModel
import Olm

/// A key of secret storage: encrypts and decrypts the user's secrets. Spec: Client-Server API, "Secret storage".
package struct StorageKey: Sendable {
  package let id: ByteString
  package let secret: Secret
  /// Whether the description showed that the key is the right one.
  package let isChecked: Bool

  /// The key as the user writes it down.
  package var recoveryKey: RecoveryKey? { RecoveryKey(secret) }

  /// Returns the content of the account data for a secret key.
  package func encrypt(_ value: Secret, as name: SecretName, random: inout SecretSource) throws(SecretStorageError) -> [UInt8] {
    guard isChecked else { throw .unchecked }
    let text = Base64.encode(value.exposed())
    guard let message = try? SecretStorageCipher(secret, name: name.text.utf8).encrypt(text, random: &random) else {
      throw .malformed
    }
    return JSONWriter.object { writer in
      writer.key("encrypted")
      writer.object { writer in
        writer.key(id)
        writer.object { writer in
          writer.member("iv", base64: message.iv)
          writer.member("ciphertext", base64: message.ciphertext)
          writer.member("mac", base64: message.mac)
        }
      }
    }
  }

  /// - Parameter content: of the account data.
  package func decrypt(_ content: JSON, as name: SecretName) throws(SecretStorageError) -> Secret {
    guard let stored = content["encrypted"]?[id] else { throw .missing }
    guard let iv = stored.base64("iv"), let ciphertext = stored.base64("ciphertext"), let mac = stored.base64("mac") else {
      throw .malformed
    }
    let text: [UInt8]
    do throws(OlmError) {
      let message = SecretStorageCipher.Message(iv: iv, ciphertext: ciphertext, mac: mac)
      text = try SecretStorageCipher(secret, name: name.text.utf8).decrypt(message)
    } catch { throw error == .wrongMAC ? .wrongKey : .malformed }
    guard let bytes = Base64.decode(text), bytes.count == Self.valueByteCount else { throw .malformed }
    return Secret(bytes)
  }

  /// All secrets of this module are keys of that size.
  static let valueByteCount = 32
}
