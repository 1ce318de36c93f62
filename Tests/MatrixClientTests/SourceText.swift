import Glibc
import Testing

/// Files of the repository, for tests that hold documents against sources.
enum SourceText {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  static func read(_ path: String) throws -> String {
    let file = try #require(fopen("\(root)/\(path)", "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Without what they are indented by.
  static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
  }

  /// What stands between backticks.
  static func quoted(_ text: some StringProtocol) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }

  /// The names that Swift files of these folders declare.
  static func declarations(in folders: [String]) throws -> Set<String> {
    var names: Set<String> = []
    for path in try folders.flatMap(swiftFiles) {
      for line in try read(path).split(separator: "\n") {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        for (word, name) in zip(words, words.dropFirst())
        where ["func", "var", "let", "case", "struct", "enum", "actor", "class", "protocol", "typealias"].contains(word) {
          names.insert(String(name))
        }
      }
    }
    return names
  }

  private static func swiftFiles(of folder: String) throws -> [String] {
    let directory = try #require(opendir("\(root)/\(folder)"))
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) {
        found += try swiftFiles(of: "\(folder)/\(name)")
      } else if name.hasSuffix(".swift") {
        found.append("\(folder)/\(name)")
      }
    }
    return found
  }
}
