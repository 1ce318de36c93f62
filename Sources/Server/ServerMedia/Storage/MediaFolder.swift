import Files
import Glibc

/// A call of the system on a file that failed.
package struct MediaFileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  init(_ path: String) {
    self.path = path
    code = errno
  }

  /// Whether there was no space, by the disk or by a quota.
  package var isForWantOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

  package var description: String { "\(path): \(String(cString: strerror(code)))" }
}

/// Where content lies: `media/ab/abcdef…`, thumbnails beside it, unfinished uploads in `media/incoming`, those that may go on
/// later in `media/partial`.
struct MediaFolder: Sendable {
  let path: String

  /// Makes the folders and clears what an earlier process left unfinished.
  init(_ path: String) throws {
    self.path = path
    for folder in [path, path + "/incoming", path + "/partial"] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw MediaFileError(folder) }
    }
    guard let unfinished = Self.names(in: path + "/incoming") else { throw MediaFileError(path + "/incoming") }
    for name in unfinished { unlink(path + "/incoming/" + name) }
  }

  /// A folder beside the server that uses it, or without one: what is unfinished in it stays.
  init(besideServer path: String) throws {
    self.path = path
    for folder in [path, path + "/incoming"] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw MediaFileError(folder) }
    }
  }

  /// nil for a folder that cannot be read.
  private static func names(in path: String) -> [String]? {
    FolderOnDisk.names(in: path)?.filter { !$0.hasPrefix(".") }
  }

  /// Whether it is 64 digits of a hexadecimal number, in small letters.
  static func isHash(_ name: String) -> Bool {
    name.utf8.count == 64 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  func path(of hash: String) -> String { "\(path)/\(hash.prefix(2))/\(hash)" }

  func thumbnailPath(of hash: String, _ variant: ThumbnailVariant, _ kind: ThumbnailKind) -> String {
    "\(path(of: hash))-\(variant).\(kind.rawValue)"
  }

  /// The names of the files of content whose hash begins with `byte`, thumbnails included, by hash. Blocks.
  func files(ofHashesBeginningWith byte: UInt8) -> [String: [String]] {
    let digits = String(byte, radix: 16)
    let names = Self.names(in: "\(path)/\(byte < 16 ? "0" : "")\(digits)") ?? []
    let ours = names.filter { $0.utf8.count == 64 || $0.utf8.dropFirst(64).first == UInt8(ascii: "-") }
    return Dictionary(grouping: ours) { String($0.prefix(64)) }
  }

  /// The bytes of content; nil if it is not there. Blocks.
  func bytes(of hash: String) -> Int64? {
    var status = stat()
    return stat(path(of: hash), &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Removes files of one hash, none of them where one was written after `time`, in milliseconds since 1970. Blocks.
  func remove(_ names: [String], of hash: String, notWrittenAfter time: Int64) {
    let paths = names.map { "\(path)/\(hash.prefix(2))/\($0)" }
    for path in paths {
      var status = stat()
      guard stat(path, &status) == 0 else { continue }
      guard Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000 <= time else { return }
    }
    for path in paths { unlink(path) }
  }

  /// What has come of an upload in parts; named by its media ID.
  func partialPath(of mediaID: String) -> String { "\(path)/partial/\(mediaID)" }

  /// The media IDs of which something has come. Blocks.
  func partials() -> [String] { Self.names(in: path + "/partial") ?? [] }

  /// How much has come. Blocks.
  func partialBytes(of mediaID: String) -> Int64 {
    var status = stat()
    return stat(partialPath(of: mediaID), &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Removes what has come. Blocks.
  func removePartial(of mediaID: String) { unlink(partialPath(of: mediaID)) }

  /// Removes content and all its thumbnails; what is not there is no error. Blocks.
  func remove(_ hash: String) {
    unlink(path(of: hash))
    for variant in ThumbnailVariant.all {
      for kind in ThumbnailKind.allCases { unlink(thumbnailPath(of: hash, variant, kind)) }
    }
  }
}
