import CCrypto
import CLinux
import Glibc

/// Content while it arrives: a file of its own, hashed as it grows, removed unless it is kept.
///
/// One upload owns it and calls one method at a time, on the blocking pool; that is what makes it `Sendable`.
final class IncomingFile: @unchecked Sendable {
  private(set) var bytesCount: Int64 = 0
  private let folder: MediaFolder
  private let path: String
  private let descriptor: Int32
  private let digest: OpaquePointer

  init(in folder: MediaFolder) throws {
    self.folder = folder
    var template = Array((folder.path + "/incoming/XXXXXX").utf8CString)
    descriptor = clinux_temporary_file(&template)
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    guard descriptor >= 0, let context = EVP_MD_CTX_new() else { throw MediaFileError(folder.path + "/incoming") }
    digest = context
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit {
    close(descriptor)
    unlink(path)
    EVP_MD_CTX_free(digest)
  }

  func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw MediaFileError(path) }
        written += count
      }
      EVP_DigestUpdate(digest, buffer.baseAddress, buffer.count)
    }
    bytesCount += Int64(bytes.count)
  }

  /// SHA-256 of everything written, in hexadecimal. Called once, after the last byte.
  func hash() -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(digest, &bytes, nil)
    return bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Moves the whole, synced file to the place of its hash, unless the same content is there.
  func keep(as hash: String) throws {
    let place = folder.path(of: hash)
    if access(place, R_OK) != 0 { try keep(at: place) }
  }

  /// Moves the whole, synced file to `place`.
  func keep(at place: String) throws {
    guard let slash = place.lastIndex(of: "/") else { return }
    let parent = String(place[..<slash])
    guard mkdir(parent, 0o700) == 0 || errno == EEXIST else { throw MediaFileError(parent) }
    guard fsync(descriptor) == 0, rename(path, place) == 0 else { throw MediaFileError(place) }
    let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw MediaFileError(parent) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw MediaFileError(parent) }
  }
}
