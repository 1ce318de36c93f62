import CSQLite
import Glibc

/// Ends this process by SIGKILL at one of the calls by which SQLite changes a file, half-way through if it writes. What the system has taken until then
/// stays, as after any kill.
enum DeadlyWrites {
  // Changed before a store is opened, then by its thread only.
  private nonisolated(unsafe) static var remaining = Int.max
  private(set) nonisolated(unsafe) static var count = 0

  /// - Parameter number: of the call, from 1.
  static func arm(at number: Int) {
    remaining = number
    guard let vfs = sqlite3_vfs_find(nil), let set = vfs.pointee.xSetSystemCall else { return }
    func replace(_ name: String, _ call: sqlite3_syscall_ptr) { _ = name.withCString { set(vfs, $0, call) } }
    let pwriteAt: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { file, bytes, size, offset in
      if DeadlyWrites.isLast() {
        _ = Glibc.pwrite(file, bytes, size / 2, offset)
        DeadlyWrites.die()
      }
      return Glibc.pwrite(file, bytes, size, offset)
    }
    let write: @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int = { file, bytes, size in
      if DeadlyWrites.isLast() {
        _ = Glibc.write(file, bytes, size / 2)
        DeadlyWrites.die()
      }
      return Glibc.write(file, bytes, size)
    }
    let truncate: @convention(c) (Int32, off_t) -> Int32 = { file, size in
      if DeadlyWrites.isLast() { DeadlyWrites.die() }
      return Glibc.ftruncate(file, size)
    }
    let remove: @convention(c) (UnsafePointer<CChar>?) -> Int32 = { path in
      if DeadlyWrites.isLast() { DeadlyWrites.die() }
      return path.map { Glibc.unlink($0) } ?? -1
    }
    for name in ["pwrite", "pwrite64"] { replace(name, unsafeBitCast(pwriteAt, to: sqlite3_syscall_ptr.self)) }
    replace("write", unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
    replace("ftruncate", unsafeBitCast(truncate, to: sqlite3_syscall_ptr.self))
    replace("unlink", unsafeBitCast(remove, to: sqlite3_syscall_ptr.self))
  }

  private static func isLast() -> Bool {
    count += 1
    return count == remaining
  }

  private static func die() { kill(getpid(), SIGKILL) }
}
