import JSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files of a media cache in a folder of their own: `KEY.BYTES`, their time of change is when they were last used. There is nothing to
/// be out of step with: the folder is its own index.
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

  /// Takes over what is there, and removes what a kill has left half and what is longer or shorter than its name says. Files of
  /// others stay as they are. nil where the folder cannot be used.
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

  /// Whether it is a name that means something only to the process that gave it.
  private static func isOfRun(_ name: String) -> Bool {
    for prefix in [incomingPrefix, unnamedPrefix] where name.hasPrefix(prefix) {
      let number = name.dropFirst(prefix.count)
      return Int(number.hasSuffix(FileSink.partialSuffix) ? number.dropLast(FileSink.partialSuffix.count) : number) != nil
    }
    return false
  }

  func path(of entry: Entry) -> String { path + "/" + entry.name }

  /// Where a download goes before it is a file of the cache.
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

  /// The file at `incoming` becomes that of the key.
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

  /// The ones used longest ago go until no more than that is left. O(entries · log entries) where any goes.
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

  /// With the folders above it; nobody else may look into it.
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
