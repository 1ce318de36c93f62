public import ClientCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A store in a SQLite file. Only the owner can read the file (mode 0600), and every value in it is sealed with a key (`StoreKeySource`): it contains an
/// access token, messages, and the keys of the device.
///
/// Only one process at a time owns the file and syncs. Others read it as a `StoreGuest`. Beside the file are SQLite's `-wal` and `-shm`,
/// the locks `-owner` and `-write`, and the key `-key`. A write is on disk when the function returns.
///
/// If the file is damaged when it is opened or first read, the store renames it (`damagedFile`) and saves the readable records that a sync
/// does not bring again. The client then syncs from the start. Later damage ends all writes, and the next start renames the file.
public actor SQLiteStore: Store {
  /// The new path of a damaged file that this store replaced; nil if there was none.
  public private(set) var damagedFile: String?

  private let path: String
  private let key: StoreKeySource
  private let executor = StoreExecutor()
  private let ownerLock: StoreLock?
  private let writeLock: StoreLock
  private var file: SQLiteFile?
  /// Whether all reads so far have succeeded.
  private var isUntouched = true
  private var isDamaged = false
  private var hasClient = false
  private var deletedSinceTidy = 0
  private var dataVersion: Int64 = 0

  private static let deletesBeforeTidy = 1_000

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens or creates the file as its owner. Throws `inUse` if it already has an owner.
  ///
  /// A file of an earlier version is sealed first, which takes a few seconds for a large one.
  public init(path: String, key: StoreKeySource = .file) throws(StoreError) {
    try self.init(path: path, isOwner: true, key: key)
  }

  init(path: String, isOwner: Bool, key: StoreKeySource) throws(StoreError) {
    self.path = path
    self.key = key
    ownerLock = isOwner ? try StoreLock(path: path + "-owner") : nil
    if !isOwner, access(path, F_OK) != 0 { throw .missing(path: path) }
    writeLock = try StoreLock(path: path + "-write")
    let opened = try Self.openFile(path, key, ownerLock, writeLock)
    file = opened.file
    damagedFile = opened.damaged
    dataVersion = (try? opened.file.dataVersion()) ?? 0
  }

  private static func openFile(
    _ path: String, _ key: StoreKeySource, _ ownerLock: StoreLock?, _ writeLock: StoreLock
  ) throws(StoreError) -> (damaged: String?, file: SQLiteFile) {
    if let ownerLock, !ownerLock.take() { throw .inUse(path: path) }
    writeLock.wait()
    defer { writeLock.release() }
    do throws(StoreError) { return try openLocked(path, key, isOwner: ownerLock != nil) } catch {
      ownerLock?.release()
      throw error
    }
  }

  private static func openLocked(
    _ path: String, _ key: StoreKeySource, isOwner: Bool
  ) throws(StoreError) -> (damaged: String?, file: SQLiteFile) {
    let marker = path + "-damaged"
    if isOwner, access(marker, F_OK) == 0 {
      let replaced = try DamagedFile.replace(path, key: key)
      unlink(marker)
      return (replaced.name, replaced.file)
    }
    do throws(StoreError) {
      if isOwner { try create(path) }
      let file = try SQLiteFile(path: path, isOwner: isOwner, key: key)
      // What was written in clear text is not to stay in the file.
      if isOwner { try file.sealAll() }
      return (nil, file)
    } catch .corrupt where isOwner {
      let replaced = try DamagedFile.replace(path, key: key)
      return (replaced.name, replaced.file)
    }
  }

  /// Creates the file first, because SQLite would let other users read it.
  static func create(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      Self.close(descriptor)
    } else if errno == EEXIST {
      chmod(path, 0o600)
    } else {
      throw .system(path: path, reason: String(cString: strerror(errno)))
    }
  }

  static func close(_ descriptor: Int32) {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }

  public func begin() throws(StoreError) {
    guard !hasClient else { throw .inUse(path: path) }
    if file == nil {
      let opened = try Self.openFile(path, key, ownerLock, writeLock)
      file = opened.file
      if let damaged = opened.damaged { damagedFile = damaged }
      (isUntouched, isDamaged) = (true, false)
    }
    hasClient = true
  }

  // MARK: Records

  public func load(_ range: StoreRange) throws(StoreError) -> [StoreRecord] {
    guard let file else { throw .closed }
    do throws(StoreError) {
      let records = try file.load(range)
      isUntouched = false
      return records
    } catch {
      guard case .corrupt = error else { throw error }
      return try loadDamaged(range)
    }
  }

  /// Replaces a damaged file before the first read, so that the client starts with the saved records. Later, the client continues in memory.
  private func loadDamaged(_ range: StoreRange) throws(StoreError) -> [StoreRecord] {
    guard isUntouched, ownerLock != nil else {
      noteDamage()
      throw .corrupt(path: path)
    }
    isUntouched = false
    writeLock.wait()
    defer { writeLock.release() }
    file = nil
    let replaced = try DamagedFile.replace(path, key: key)
    file = replaced.file
    damagedFile = replaced.name
    return try replaced.file.load(range)
  }

  private func noteDamage() {
    guard ownerLock != nil, !isDamaged else { return }
    isDamaged = true
    let marker = open(path + "-damaged", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if marker >= 0 { SQLiteStore.close(marker) }
  }

  public func write(_ operations: [StoreOperation]) throws(StoreError) {
    guard let file else { throw .closed }
    guard ownerLock != nil || operations.allSatisfy(Inbox.contains) else { throw .notOwner }
    if isDamaged { throw .corrupt(path: path) }
    isUntouched = false
    do throws(StoreError) {
      // Versions of SQLite before 3.51.3 can lose pages when one process begins a checkpoint while another begins the log
      // anew: nobody else writes meanwhile.
      writeLock.wait()
      defer { writeLock.release() }
      try file.write(operations)
      try tidy(after: operations)
    } catch {
      if case .corrupt = error { noteDamage() }
      throw error
    }
  }

  private func tidy(after operations: [StoreOperation]) throws(StoreError) {
    guard ownerLock != nil else { return }
    for operation in operations {
      switch operation {
      case .put: break
      case .delete: deletedSinceTidy += 1
      case .deleteAll: deletedSinceTidy += SQLiteStore.deletesBeforeTidy
      }
    }
    guard deletedSinceTidy >= SQLiteStore.deletesBeforeTidy else { return }
    deletedSinceTidy = 0
    try file?.tidy()
  }

  public func hasForeignWrites() -> Bool {
    guard let version = try? file?.dataVersion(), version != dataVersion else { return false }
    dataVersion = version
    return true
  }

  // MARK: The file

  /// Returns the size on disk in bytes, without the log of the last writes.
  public func byteCount() throws(StoreError) -> Int64 {
    guard let file else { throw .closed }
    return try file.byteCount()
  }

  /// Removes all records and frees their space. Use it only if no client is running. A running client can sign out, or call
  /// `startAfresh`.
  public func clear() throws(StoreError) {
    try write([.deleteAll(prefix: "")])
    try rebuild()
  }

  /// Writes the file again without its empty pages. Needs the same space again meanwhile.
  public func rebuild() throws(StoreError) {
    guard let file else { throw .closed }
    guard ownerLock != nil else { throw .notOwner }
    writeLock.wait()
    defer { writeLock.release() }
    try file.rebuild()
  }

  /// Checks the whole file. Returns "ok", or a description of the damage.
  public func check() throws(StoreError) -> String {
    guard let file else { throw .closed }
    return try file.check()
  }

  public func close() {
    hasClient = false
    // Closing the last connection is a checkpoint.
    writeLock.wait()
    file = nil
    writeLock.release()
    ownerLock?.release()
  }
}
