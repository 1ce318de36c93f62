import Files
import Glibc
import Synchronization

/// Files of the media folder that the bucket has too: at most so many bytes, the least recently used go first.
///
/// When a file was used is its time of modification, so that nothing has to be remembered. All functions block.
final class MediaCache: Sendable {
  private let folder: MediaFolder
  private let bytesLimit: Int64
  /// The bytes of all files; nil until they are counted.
  private let state = Mutex<Int64?>(nil)

  init(_ folder: MediaFolder, bytesLimit: Int64) {
    (self.folder, self.bytesLimit) = (folder, bytesLimit)
  }

  /// Bytes of all files, as far as they are counted.
  var bytes: Int64 { state.withLock { $0 ?? 0 } }

  /// Notes that a file is used. Returns false if there is none.
  func use(_ path: String) -> Bool { utimensat(AT_FDCWD, path, nil, 0) == 0 }

  /// Whether a file is there as a whole; one that a power failure has cut short is not.
  func has(_ path: String, bytes: Int64) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && Int64(status.st_size) == bytes && use(path)
  }

  /// A file has come. Removes the oldest tenth if all are too many bytes, but never the newest file.
  func added(bytes: Int64) {
    state.withLock { total in
      // The first walk counts the new file.
      guard let known = total else { return total = clear() }
      total = known + bytes > bytesLimit ? clear() : known + bytes
    }
  }

  private struct File {
    let path: String
    let bytes: Int64
    let used: Int64
  }

  /// Counts all files and removes the oldest if they are too many bytes; returns the bytes that are left.
  private func clear() -> Int64 {
    var files: [File] = []
    for byte in UInt8.min...UInt8.max {
      for names in folder.files(ofHashesBeginningWith: byte).values {
        for name in names {
          let path = "\(folder.path)/\(name.prefix(2))/\(name)"
          var status = stat()
          guard stat(path, &status) == 0 else { continue }
          let used = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
          files.append(File(path: path, bytes: Int64(status.st_size), used: used))
        }
      }
    }
    var total = files.reduce(0) { $0 + $1.bytes }
    guard total > bytesLimit else { return total }
    for file in files.sorted(by: { $0.used < $1.used }).dropLast() where total > bytesLimit / 10 * 9 {
      if unlink(file.path) == 0 { total -= file.bytes }
    }
    return total
  }
}
