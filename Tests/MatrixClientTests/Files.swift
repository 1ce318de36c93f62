import Glibc

func temporaryPath() -> String { "/tmp/martlet-store-\(UInt64.random(in: 0 ... .max))" }

enum FileBytes {
  /// nil where the file cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return ferror(file) == 0 ? bytes : nil
  }
}
