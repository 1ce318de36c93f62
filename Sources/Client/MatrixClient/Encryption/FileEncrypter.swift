import ClientCore
import JSON
import Olm
import Synchronization

/// Encrypts a file while it is sent. A transport calls `begin` before the first byte, also where it begins anew because a connection broke: it gets another
/// ciphertext then, under another key. The file may have changed, and two contents under one key would give both away.
public final class FileEncrypter: Sendable {
  private struct State {
    var cipher = FileEncrypter.cipher()
    var byteCount: Int64 = 0
  }

  private let state = Mutex(State())

  private static func cipher() -> AttachmentCipher {
    var random = SecretSource.system
    return AttachmentCipher(random: &random)
  }

  init() {}

  public func begin() { state.withLock { $0 = State() } }

  /// Encrypts the next bytes of the file in place.
  public func encrypt(_ bytes: UnsafeMutableRawBufferPointer) {
    var part = [UInt8](bytes)
    state.withLock { state in
      state.cipher.encrypt(&part)
      state.byteCount += Int64(part.count)
    }
    bytes.copyBytes(from: part)
  }

  /// How many bytes were encrypted since the beginning. If a server answers before it has all of a file, the keys are of no use.
  public var byteCount: Int64 { state.withLock { $0.byteCount } }

  /// What decrypts all that was encrypted since the beginning.
  var keys: FileKeys? {
    let texts = state.withLock { $0.cipher.texts }
    return FileKeys(
      key: ByteString(decoding: texts.key), counter: ByteString(decoding: texts.counter),
      digest: ByteString(decoding: texts.digest))
  }
}
