import Glibc

/// Why a test's own file could not be made.
package struct TemporaryFileFailed: Error {}

/// Calls `body` with the path of a file that holds `text` until then.
package func withTemporaryFile<T>(_ text: String, _ body: (String) throws -> T) throws -> T {
  var name = Array("/tmp/martlet-test-XXXXXX".utf8CString)
  let file = mkstemp(&name)
  guard file >= 0 else { throw TemporaryFileFailed() }
  defer { close(file) }
  let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer { unlink(path) }
  let bytes = Array(text.utf8)
  guard write(file, bytes, bytes.count) == bytes.count else { throw TemporaryFileFailed() }
  return try body(path)
}

/// A folder that lives, with all in it, as long as the value.
package final class TemporaryFolder {
  package let path: String

  package init() throws {
    var name = Array("/tmp/martlet-test-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw TemporaryFileFailed() }
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { remove("\(path)/\(name)") }
      }
      closedir(folder)
    }
    Glibc.remove(path)
  }
}

/// The content of a file of at most 1 MiB; nil if it cannot be read.
package func fileBytes(_ path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let count = read(file, &bytes, bytes.count)
  return count < 0 ? nil : Array(bytes[..<count])
}
