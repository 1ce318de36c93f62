import CSQLite

/// A file system for SQLite ("VFS") in which what a commit writes to the write-ahead log is written at once.
///
/// SQLite writes each page of a commit by two calls, 24 bytes and the page, one behind the other: a hundred calls for ten
/// messages. Here they are gathered in memory, and written before the log is synced or anything else is asked of the file.
/// Only for a connection that syncs the log with each commit (`synchronous=FULL`): SQLite shows a commit to other connections
/// after that sync, so that nobody looks for pages which are in memory still. Other files are the system's own.
///
/// SQLite guarantees that a file is used by one thread at a time, that it is closed once, and not used afterwards; its memory
/// is SQLite's, as large as this file system says, and begins with what SQLite knows of a file. See sqlite.org/vfs.html.
enum GatheredLog {
  /// The file system's name; nil if SQLite does not take it.
  static let name: String? = register()

  /// Bytes gathered at most: what a commit of some five messages writes. SQLite's own file writes fewer than 128 KiB at a time
  /// (`seekAndWriteFd` takes 17 bits of the count).
  private static let capacity = 124 << 10

  /// What lies in a log's memory before the system's own file.
  private struct File {
    let known: sqlite3_file
    let bytes: UnsafeMutableRawBufferPointer
    /// Where in the file the gathered bytes belong.
    var start: sqlite3_int64 = 0
    var count = 0
  }

  private typealias FilePointer = UnsafeMutablePointer<sqlite3_file>

  private static let systemFileOffset = (MemoryLayout<File>.size + 15) & ~15

  // Written once, read only.
  private nonisolated(unsafe) static let system = sqlite3_vfs_find(nil)

  private static func register() -> String? {
    guard let system else { return nil }
    let name: StaticString = "martlet-gathered-log"
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: system.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    vfs.pointee.szOsFile += Int32(systemFileOffset)
    vfs.pointee.xOpen = { GatheredLog.open($1, $2!, $3, $4) }
    return sqlite3_vfs_register(vfs, 0) == SQLITE_OK ? name.description : nil
  }

  private static func open(
    _ path: UnsafePointer<CChar>?, _ file: FilePointer, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system else { return SQLITE_CANTOPEN }
    guard flags & SQLITE_OPEN_WAL != 0 else { return system.pointee.xOpen(system, path, file, flags, outFlags) }
    let inner = systemFile(of: file)
    let result = system.pointee.xOpen(system, path, inner, flags, outFlags)
    guard result == SQLITE_OK else {
      // A file that could not be opened may have to be closed all the same.
      if inner.pointee.pMethods != nil { _ = inner.pointee.pMethods.pointee.xClose(inner) }
      file.pointee.pMethods = nil
      return result
    }
    UnsafeMutableRawPointer(file).initializeMemory(
      as: File.self,
      to: File(
        known: sqlite3_file(pMethods: methods),
        bytes: .allocate(byteCount: capacity, alignment: MemoryLayout<UInt64>.alignment)))
    return SQLITE_OK
  }

  private static func systemFile(of file: FilePointer) -> FilePointer {
    (UnsafeMutableRawPointer(file) + systemFileOffset).assumingMemoryBound(to: sqlite3_file.self)
  }

  private static func log(_ file: FilePointer) -> UnsafeMutablePointer<File> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: File.self)
  }

  // MARK: Gathering

  private static func write(
    _ file: FilePointer, _ bytes: UnsafeRawPointer, _ count: Int32, at offset: sqlite3_int64
  ) -> Int32 {
    let log = log(file)
    let isBehind = offset == log.pointee.start + sqlite3_int64(log.pointee.count)
    if !isBehind || log.pointee.count + Int(count) > capacity {
      let result = flush(file)
      guard result == SQLITE_OK else { return result }
      log.pointee.start = offset
    }
    guard count <= capacity else {
      return systemFile(of: file).pointee.pMethods.pointee.xWrite(systemFile(of: file), bytes, count, offset)
    }
    UnsafeMutableRawBufferPointer(rebasing: log.pointee.bytes[log.pointee.count...])
      .copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    log.pointee.count += Int(count)
    return SQLITE_OK
  }

  /// Writes what is gathered. If that fails it is given up: SQLite then undoes the transaction.
  private static func flush(_ file: FilePointer) -> Int32 {
    let log = log(file)
    guard log.pointee.count > 0 else { return SQLITE_OK }
    let inner = systemFile(of: file)
    let result = inner.pointee.pMethods.pointee.xWrite(
      inner, log.pointee.bytes.baseAddress, Int32(log.pointee.count), log.pointee.start)
    log.pointee.start += sqlite3_int64(log.pointee.count)
    log.pointee.count = 0
    return result
  }

  /// Calls the system's own file once it has what was gathered.
  private static func forward(
    _ file: FilePointer?, _ body: (sqlite3_io_methods, FilePointer) -> Int32
  ) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    let result = flush(file)
    guard result == SQLITE_OK else { return result }
    let inner = systemFile(of: file)
    return body(inner.pointee.pMethods.pointee, inner)
  }

  private static func close(_ file: FilePointer) -> Int32 {
    let flushed = flush(file)
    let inner = systemFile(of: file)
    let closed = inner.pointee.pMethods.pointee.xClose(inner)
    log(file).pointee.bytes.deallocate()
    return flushed == SQLITE_OK ? closed : flushed
  }

  // MARK: What SQLite calls

  // Written once, read only. Version 1: what is newer is for files that are locked, shared or mapped, which a log is not.
  private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    methods.xClose = { GatheredLog.close($0!) }
    methods.xRead = { file, bytes, count, offset in
      GatheredLog.forward(file) { $0.xRead($1, bytes, count, offset) }
    }
    methods.xWrite = { GatheredLog.write($0!, $1!, $2, at: $3) }
    methods.xTruncate = { file, size in GatheredLog.forward(file) { $0.xTruncate($1, size) } }
    methods.xSync = { file, flags in GatheredLog.forward(file) { $0.xSync($1, flags) } }
    methods.xFileSize = { file, size in GatheredLog.forward(file) { $0.xFileSize($1, size) } }
    methods.xLock = { file, level in GatheredLog.forward(file) { $0.xLock($1, level) } }
    methods.xUnlock = { file, level in GatheredLog.forward(file) { $0.xUnlock($1, level) } }
    methods.xCheckReservedLock = { file, result in GatheredLog.forward(file) { $0.xCheckReservedLock($1, result) } }
    methods.xFileControl = { file, operation, argument in
      GatheredLog.forward(file) { $0.xFileControl($1, operation, argument) }
    }
    methods.xSectorSize = { file in GatheredLog.forward(file) { $0.xSectorSize($1) } }
    methods.xDeviceCharacteristics = { file in GatheredLog.forward(file) { $0.xDeviceCharacteristics($1) } }
    let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    pointer.initialize(to: methods)
    return UnsafePointer(pointer)
  }()
}
