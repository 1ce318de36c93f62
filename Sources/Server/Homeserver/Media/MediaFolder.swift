import CCrypto
import CLinux
import Glibc

/// A call of the system on a file that failed.
struct MediaFileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  init(_ path: String) {
    self.path = path
    code = errno
  }

  var description: String { "\(path): \(String(cString: strerror(code)))" }
}

/// Where content lies: `media/ab/abcdef…`, thumbnails beside it, unfinished uploads in `media/incoming`.
struct MediaFolder: Sendable {
  let path: String

  /// Makes the folders and clears what an earlier process left unfinished.
  init(_ path: String) throws {
    self.path = path
    for folder in [path, path + "/incoming"] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw MediaFileError(folder) }
    }
    guard let incoming = opendir(path + "/incoming") else { throw MediaFileError(path + "/incoming") }
    defer { closedir(incoming) }
    while let entry = readdir(incoming) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { unlink(path + "/incoming/" + name) }
    }
  }

  func path(of hash: String) -> String { "\(path)/\(hash.prefix(2))/\(hash)" }

  func thumbnailPath(of hash: String, _ size: ThumbnailSize, _ kind: ThumbnailKind) -> String {
    "\(path(of: hash))-\(size).\(kind.rawValue)"
  }
}

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

  /// Moves the whole, synced file to the place of its hash, which is the result.
  func keep() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(digest, &bytes, nil)
    let hash = bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
    let place = folder.path(of: hash)
    if access(place, R_OK) != 0 { try keep(at: place) }
    return hash
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
