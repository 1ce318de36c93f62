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

  func thumbnailPath(of hash: String, _ variant: ThumbnailVariant, _ kind: ThumbnailKind) -> String {
    "\(path(of: hash))-\(variant).\(kind.rawValue)"
  }

  /// Removes content and all its thumbnails; what is not there is no error. Blocks.
  func remove(_ hash: String) {
    unlink(path(of: hash))
    for variant in ThumbnailVariant.all {
      for kind in ThumbnailKind.allCases { unlink(thumbnailPath(of: hash, variant, kind)) }
    }
  }
}
