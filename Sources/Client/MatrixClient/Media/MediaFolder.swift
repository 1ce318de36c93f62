import JSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of a media cache in their own folder, named `KEY.BYTES`. The modification time is the time of the last use. The folder is
/// its own index, so that no other index can differ from it.
struct MediaFolder: Sendable {
  struct Entry: Sendable {
    let name: String
    let bytes: Int64
    var usedAtMilliseconds: Int64
  }

  let path: String
  private(set) var entries: [MediaKey: Entry] = [:]
  private(set) var bytes: Int64 = 0
  private var lastNumber = 0

  /// Reads the folder. Removes files that a kill has left incomplete, and files whose size differs from their name. Does not touch other
  /// files. nil if the folder cannot be used.
  init?(path: String) {
    self.path = path
    guard let names = MediaFolder.names(in: path) else { return nil }
    for name in names where name != MediaFolder.lockName {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      var status = stat()
      guard parts.count == 2, let key = MediaKey(fileName: parts[0]), let bytes = Int64(parts[1]) else {
        if MediaFolder.isOfRun(name) { unlink(path + "/" + name) }
        continue
      }
      guard lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == bytes else {
        unlink(path + "/" + name)
        continue
      }
      if let known = entries[key] { removeFile(known) }
      entries[key] = Entry(name: name, bytes: bytes, usedAtMilliseconds: MediaFolder.milliseconds(status))
      self.bytes += bytes
    }
  }

  static let lockName = "lock"
  private static let incomingPrefix = "incoming-"
  private static let unnamedPrefix = "run-"

  /// Returns whether a name is temporary: only the process that chose it uses it.
  private static func isOfRun(_ name: String) -> Bool {
    for prefix in [incomingPrefix, unnamedPrefix] where name.hasPrefix(prefix) {
      let number = name.dropFirst(prefix.count)
      return Int(number.hasSuffix(FileSink.partialSuffix) ? number.dropLast(FileSink.partialSuffix.count) : number) != nil
    }
    return false
  }

  func path(of entry: Entry) -> String { path + "/" + entry.name }

  /// Returns the path of a download before it is a file of the cache.
  mutating func incomingPath() -> String {
    lastNumber += 1
    return path + "/\(Self.incomingPrefix)\(lastNumber)"
  }

  mutating func use(_ key: MediaKey, at now: Int64) -> Entry? {
    guard var entry = entries[key] else { return nil }
    guard access(path(of: entry), R_OK) == 0 else {
      remove(key)
      return nil
    }
    entry.usedAtMilliseconds = now
    entries[key] = entry
    MediaFolder.setTime(path(of: entry), now)
    return entry
  }

  /// Makes the file at `incoming` the file of a key.
  mutating func take(_ incoming: String, as key: MediaKey, bytes: Int64, at now: Int64) -> Entry? {
    remove(key)
    lastNumber += 1
    // A key too long for a name is known while the process lives.
    let name = key.fileName.map { $0 + ".\(bytes)" } ?? "\(Self.unnamedPrefix)\(lastNumber)"
    let entry = Entry(name: name, bytes: bytes, usedAtMilliseconds: now)
    MediaFolder.setTime(incoming, now)
    chmod(incoming, 0o600)
    guard rename(incoming, path(of: entry)) == 0 else {
      unlink(incoming)
      return nil
    }
    entries[key] = entry
    self.bytes += bytes
    return entry
  }

  mutating func remove(_ key: MediaKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    bytes -= entry.bytes
    removeFile(entry)
  }

  mutating func removeAll() { for key in Array(entries.keys) { remove(key) } }

  /// Removes the least recently used files until the rest is within the limit. O(entries · log entries) if it removes any.
  mutating func shrink(to limit: Int64) {
    guard bytes > limit else { return }
    for (key, _) in entries.sorted(by: { $0.value.usedAtMilliseconds < $1.value.usedAtMilliseconds }) {
      if bytes <= limit { return }
      remove(key)
    }
  }

  mutating func removeUnused(since time: Int64) {
    for (key, entry) in entries where entry.usedAtMilliseconds < time { remove(key) }
  }

  private func removeFile(_ entry: Entry) { unlink(path(of: entry)) }

  // MARK: The system

  /// Creates the folder with its parents. Only its owner can read it.
  static func make(_ path: String) -> Bool {
    var status = stat()
    if stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { _ = make(String(path[..<slash])) }
    return mkdir(path, 0o700) == 0
  }

  private static func names(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func setTime(_ path: String, _ milliseconds: Int64) {
    let time = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    let times = [time, time]
    _ = utimensat(AT_FDCWD, path, times, 0)
  }

  private static func milliseconds(_ status: stat) -> Int64 {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
