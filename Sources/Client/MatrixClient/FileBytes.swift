import Glibc

/// Attachments are named by their path.
enum FileBytes {
  /// nil where the file cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return ferror(file) == 0 ? bytes : nil }
      bytes += buffer[..<count]
    }
  }
}
