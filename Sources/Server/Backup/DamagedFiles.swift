/// The files of a backup that are missing or do not have their checksum.
package struct DamagedFiles: Equatable, CustomStringConvertible {
  /// A line for each of the first files.
  package private(set) var lines: [String] = []
  /// The number of all damaged files.
  package private(set) var count = 0

  /// The number of files that are named; a lost disk damages all.
  package static let namedLimit = 50

  package var isEmpty: Bool { count == 0 }

  /// Compares what is at `path` with what the list says about `file`; `found` is nil if nothing is there.
  mutating func compare(_ found: FileContent.Summary?, with file: BackupList.File, at path: String) {
    if let found, found.hash == file.hash, found.bytes == file.entry.bytes { return }
    count += 1
    guard lines.count < Self.namedLimit else { return }
    lines.append("\(path) (\(file.entry.path)) \(found == nil ? "is missing" : "does not have the checksum that is its name")")
  }

  func throwIfAny() throws(BackupError) { if !isEmpty { throw .damagedFiles(self) } }

  package var description: String {
    if count == 1 { return "the backup is damaged: \(lines[0])" }
    let more = count > lines.count ? ["and \(count - lines.count) more"] : []
    return (["the backup is damaged: \(count) files"] + lines + more).joined(separator: "\n  ")
  }
}
