import Database
import Glibc

/// A folder of its own for a benchmark's server, on the disk where it is started: the system's temporary folder may be in memory.
struct BenchmarkFolder: Sendable {
  let path: String

  init(_ name: String) throws {
    var template = Array("./\(name)-benchmark-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw DatabaseError.unusable(path: ".", reason: "no folder") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    guard let folder = opendir(path) else { return }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        })
    }
    closedir(folder)
    for name in names where name != "." && name != ".." {
      let file = path + "/" + name
      if unlink(file) != 0 { remove(file) }
    }
    rmdir(path)
  }
}
