import Files
import Glibc

/// What is known of a file: where it lies below the data folder, how large it is and when it was written.
struct FileEntry: Hashable {
  /// Relative to the folder, with `/` between its parts.
  let path: String
  let bytes: Int64
  /// Microseconds since 1970.
  let modified: Int64
}

/// Reads, hashes, copies and lists files. Everything blocks.
enum FileContent {
  struct Summary: Equatable {
    /// SHA-256 in hexadecimal.
    let hash: String
    let bytes: Int64
  }

  private static let pieceBytes = 1 << 20

  /// Reads a file to its end, writes what it reads to `destination` if there is one, and returns what it read. Returns nil if the file
  /// does not exist.
  static func read(
    _ path: String, copyingTo destination: (descriptor: Int32, path: String)? = nil
  ) throws(BackupError) -> Summary? {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(path)
    }
    defer { close(source) }
    return try read(source, path, copyingTo: destination)
  }

  /// Reads an open file from where it is to its end. `path` is its name in errors.
  static func read(
    _ source: Int32, _ path: String, copyingTo destination: (descriptor: Int32, path: String)?
  ) throws(BackupError) -> Summary {
    guard let hash = ContentHash() else { throw .system(path) }
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    while true {
      let count = Glibc.read(source, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(path) }
      guard count > 0 else { break }
      hash.add(piece[..<count])
      if let destination { try write(piece[..<count], to: destination.descriptor, destination.path) }
    }
    return hash.finish()
  }

  /// Copies a file into a new one, for its owner only, and syncs the copy. Returns nil if there is no source.
  static func copy(_ path: String, to destination: String) throws(BackupError) -> Summary? {
    let descriptor = open(destination, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(destination) }
    defer { close(descriptor) }
    let summary = try read(path, copyingTo: (descriptor, destination))
    guard fsync(descriptor) == 0 else { throw .system(destination) }
    return summary
  }

  /// Writes a new file, for its owner only, and syncs it.
  static func write(_ text: String, toNew path: String) throws(BackupError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(path) }
    defer { close(descriptor) }
    try write(Array(text.utf8)[...], to: descriptor, path)
    guard fsync(descriptor) == 0 else { throw .system(path) }
  }

  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String) throws(BackupError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(path) }
      rest = rest.dropFirst(count)
    }
  }

  /// Makes a new or known file, or a folder's list of names, survive a loss of power.
  static func sync(_ path: String) throws(BackupError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(path) }
  }

  /// Makes a folder for its owner only, and those above it.
  static func makeFolder(_ path: String) throws(BackupError) {
    do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(path) } catch {
      throw .system(error.path, code: error.code)
    }
  }

  /// The names in a folder but `.` and `..`, sorted; none if there is no such folder.
  static func names(in path: String) throws(BackupError) -> [String] {
    if let names = FolderOnDisk.names(in: path) { return names }
    if errno == ENOENT { return [] }
    throw .system(path)
  }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// All regular files below `root`, links followed, and the folders if `body` wants them. A file that goes meanwhile is left out.
  static func walk(
    _ root: String, below path: String = "", depth: Int = 0, _ body: (String, stat) throws(BackupError) -> Void
  ) throws(BackupError) {
    // Deeper than any data folder: a link that leads back.
    guard depth < 16 else { return }
    for name in try names(in: path.isEmpty ? root : "\(root)/\(path)") {
      let below = path.isEmpty ? name : "\(path)/\(name)"
      guard let status = status("\(root)/\(below)") else { continue }
      try body(below, status)
      if status.isFolder { try walk(root, below: below, depth: depth + 1, body) }
    }
  }

  /// Removes a folder with everything in it, and never what a link leads to.
  static func remove(_ path: String) throws(BackupError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    if status.isFolder { for name in try names(in: path) { try remove("\(path)/\(name)") } }
    guard Glibc.remove(path) == 0 || errno == ENOENT else { throw .system(path) }
  }
}

extension stat {
  var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
  var isFile: Bool { st_mode & S_IFMT == S_IFREG }
  var modifiedMicroseconds: Int64 { Int64(st_mtim.tv_sec) * 1_000_000 + Int64(st_mtim.tv_nsec) / 1_000 }
}
