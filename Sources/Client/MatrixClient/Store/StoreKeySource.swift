import CSodium
import ClientCore
import JSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where the key comes from that a store's file is sealed with. Without it the file is of no use to anyone.
public enum StoreKeySource: Sendable {
  /// A file beside the store, with `-key` behind its name, that only the owner can read. It protects backups and copies of the store that go without
  /// it, and not against who can read the account's files.
  case file
  /// Derived from what a person types. A wrong one throws `StoreError.wrongKey`.
  case passphrase(String)
  /// 32 bytes that the app keeps: in the keychain of the system, for example.
  case bytes([UInt8])
}

extension StoreKeySource {
  private static let saltByteCount = 16

  /// - Parameter isNew: whether there is nothing yet that was sealed.
  func seal(ofStore path: String, isNew: Bool) throws(StoreError) -> StoreSeal {
    let keyPath = path + "-key"
    switch self {
    case .file: return StoreSeal(key: try Self.kept(StoreSeal.keyByteCount, at: keyPath, isNew: isNew, store: path))
    case .bytes(let key):
      guard key.count == StoreSeal.keyByteCount else { throw .wrongKey(path: path) }
      return StoreSeal(key: key)
    case .passphrase(let passphrase):
      let salt = try Self.kept(Self.saltByteCount, at: keyPath, isNew: isNew, store: path)
      return StoreSeal(key: try Self.derived(from: Array(passphrase.utf8), salt, path))
    }
  }

  /// Argon2id with libsodium's moderate limits: 256 MB, about half a second.
  private static func derived(from passphrase: [UInt8], _ salt: [UInt8], _ path: String) throws(StoreError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: StoreSeal.keyByteCount)
    let result = passphrase.withUnsafeBytes { text in
      crypto_pwhash(
        &key, UInt64(key.count), text.bindMemory(to: CChar.self).baseAddress ?? UnsafePointer(bitPattern: 1)!,
        UInt64(text.count),
        salt, UInt64(crypto_pwhash_opslimit_moderate()), crypto_pwhash_memlimit_moderate(), crypto_pwhash_alg_argon2id13())
    }
    guard result == 0 else { throw .system(path: path, reason: "there is no memory to derive its key") }
    return key
  }

  /// Random bytes that are made once.
  private static func kept(_ count: Int, at path: String, isNew: Bool, store: String) throws(StoreError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor >= 0 {
      defer { SQLiteStore.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: count + 1)
      guard read(descriptor, &bytes, count + 1) == count else { throw .wrongKey(path: store) }
      return Array(bytes.prefix(count))
    }
    guard errno == ENOENT else { throw .system(path: path, reason: String(cString: strerror(errno))) }
    // Another one would not open what is there.
    guard isNew else { throw .wrongKey(path: store) }
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    try make(path, bytes)
    return bytes
  }

  /// Whole or not at all: it is under its name once it is on the disk.
  private static func make(_ path: String, _ bytes: [UInt8]) throws(StoreError) {
    let unfinished = path + ".new"
    unlink(unfinished)
    let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(path: path, reason: String(cString: strerror(errno))) }
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    let reason = String(cString: strerror(errno))
    SQLiteStore.close(descriptor)
    guard isWritten, rename(unfinished, path) == 0 else {
      unlink(unfinished)
      throw .system(path: path, reason: reason)
    }
  }
}
