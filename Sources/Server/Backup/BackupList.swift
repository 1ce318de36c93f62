/// The list of what a backup holds, a text file that is written last:
///
///     martlet backup 1
///     schema 1
///     made 1790000000000
///     <SHA-256> <bytes> <microseconds since 1970> <path below the data folder>
///     end <number of files>
///
/// A list that was cut off lacks its last line and is not read.
struct BackupList: Equatable {
  struct File: Equatable {
    let entry: FileEntry
    /// SHA-256 in hexadecimal, which is also the file's name in the backup.
    let hash: String
  }

  /// The newest migration of the database.
  var schema: Int
  /// Milliseconds since 1970.
  var made: Int64
  var files: [File]

  private static let head = "martlet backup 1"

  var text: String {
    var lines = [Self.head, "schema \(schema)", "made \(made)"]
    for file in files { lines.append("\(file.hash) \(file.entry.bytes) \(file.entry.modified) \(file.entry.path)") }
    lines.append("end \(files.count)")
    return lines.joined(separator: "\n") + "\n"
  }

  init(schema: Int, made: Int64, files: [File]) {
    self.schema = schema
    self.made = made
    self.files = files
  }

  /// nil for text that is not a whole list, or has a path that leads out of the data folder.
  init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 5, lines[0] == Self.head, lines.last == "", lines[lines.count - 2] == "end \(lines.count - 5)",
      let schema = Self.number(lines[1], after: "schema "), let made = Self.number(lines[2], after: "made ")
    else { return nil }
    var files: [File] = []
    for line in lines[3..<lines.count - 2] {
      let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, Self.isHash(parts[0]), let bytes = Int64(parts[1]), let modified = Int64(parts[2]),
        Self.staysInside(parts[3])
      else { return nil }
      files.append(File(entry: FileEntry(path: String(parts[3]), bytes: bytes, modified: modified), hash: String(parts[0])))
    }
    self.init(schema: Int(schema), made: made, files: files)
  }

  private static func number(_ line: Substring, after word: String) -> Int64? {
    line.hasPrefix(word) ? Int64(line.dropFirst(word.count)) : nil
  }

  static func isHash(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  private static func staysInside(_ path: Substring) -> Bool {
    path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }
}
