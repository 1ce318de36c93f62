#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A folder of one case.
struct TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/client-live-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("no temporary folder, errno \(errno)") }
    path = template.withUnsafeBufferPointer { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
  }

  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path + "/" + name
    guard let handle = fopen(file, "w") else { throw Failure("cannot write \(file), errno \(errno)") }
    defer { fclose(handle) }
    guard fwrite(bytes, 1, bytes.count, handle) == bytes.count else { throw Failure("cannot write \(file)") }
    return file
  }

  /// Of that size, but empty on the disk.
  func sparseFile(_ name: String, bytes: Int64) throws -> String {
    let file = try file(name, [])
    guard truncate(file, off_t(bytes)) == 0 else { throw Failure("cannot write \(file), errno \(errno)") }
    return file
  }

  /// The files in it lie in no further folders.
  func remove() {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { unlink(path + "/" + name) }
    }
    closedir(folder)
    rmdir(path)
  }
}
