import Shell

/// A secret that is the first line of a file.
enum SecretLine {
  /// Throws `failed` if the file that the setting names cannot be read, or is larger than 64 KB.
  static func read(_ path: String, setting: String) throws(StartError) -> String {
    do throws(FileBytes.Unreadable) {
      let bytes = try FileBytes.read(path, limit: 64 << 10)
      return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    } catch {
      throw .failed("cannot read \(setting) \(path): \(error.reason)")
    }
  }
}
