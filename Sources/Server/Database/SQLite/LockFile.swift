import Glibc

/// The mark of the one process that has the database open: an advisory lock on `<path>-lock`, which the system drops with
/// the process, however it ends. The file stays behind; only the lock counts.
struct LockFile: ~Copyable {
  private let descriptor: Int32

  static func path(for database: String) -> String { database + "-lock" }

  init(for database: String) throws(DatabaseError) {
    let file = open(Self.path(for: database), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unusable(path: database, reason: String(cString: strerror(errno))) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.processID(in: file)
      close(file)
      throw .locked(path: database, processID: holder)
    }
    // Not before: who throws with all that is stored is deinitialized, and what was closed twice may be another's by then.
    descriptor = file
    // The process ID is for the error message of a second server. Nothing depends on it, so a full disk is no reason to fail here.
    let digits = Array("\(getpid())\n".utf8)
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, digits, digits.count, 0) }
  }

  deinit {
    // Not by closing alone: a child process between fork and exec has the descriptor too, and with it the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func processID(in descriptor: Int32) -> Int32? {
    var digits = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &digits, digits.count, 0)
    guard count > 0 else { return nil }
    return Int32(String(decoding: digits[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
