import Glibc

/// Makes a backup of a data folder, while a server uses it or while none does.
package struct Backup {
  /// What a backup came to.
  package struct Summary: Equatable {
    package var files = 0
    package var bytes: Int64 = 0
    /// Of these, what was not in the folder from the backup before.
    package var copiedFiles = 0
    package var copiedBytes: Int64 = 0
    /// Content that the database names and that is not in the data folder.
    package var missingMedia = 0
  }

  private let data: String
  private let folder: BackupFolder
  private let made: Int64
  private var files: [String: BackupList.File] = [:]
  private var summary = Summary()

  /// - Parameters:
  ///   - now: milliseconds since 1970.
  /// Throws `BackupError`. The folder is then as it was before: a full disk has no part of the new backup on it. A backup that was killed
  /// leaves the files that it had copied, and the next one uses them.
  package static func make(of data: String, in path: String, now: Int64) throws(BackupError) -> Summary {
    let database = data + "/" + DataFolder.database
    guard FileContent.status(database) != nil else { throw .database(path: database, reason: "the file does not exist") }
    guard !DataFolder.holds(path, in: data) else {
      throw .file(path: path, reason: "a backup cannot be inside the data folder \(data)")
    }
    var backup = Backup(data: data, folder: try BackupFolder(path, makes: true), made: now)
    do throws(BackupError) {
      return try backup.run()
    } catch {
      try? backup.folder.removeWhatIsNotListed()
      throw error
    }
  }

  private init(data: String, folder: BackupFolder, made: Int64) {
    (self.data, self.folder, self.made) = (data, folder, made)
  }

  /// Files before the database and after: content that a user deletes meanwhile is in the first pass, content that comes in the second.
  private mutating func run() throws(BackupError) -> Summary {
    let previous = try? folder.list()
    let known = Dictionary((previous?.files ?? []).map { ($0.entry, $0) }) { first, _ in first }
    try addFiles(known)
    let (schema, media) = try addDatabase()
    try addFiles(known)
    for hash in media where files[DataFolder.contentPath(hash)] == nil { summary.missingMedia += 1 }
    // What came after the database was copied, or is no longer named, is nothing that the copy could find.
    let all = files.values.filter { DataFolder.contentHash($0.entry.path).map(media.contains) ?? true }.sorted {
      $0.entry.path < $1.entry.path
    }
    try folder.finish(BackupList(schema: schema, made: made, files: all))
    summary.files = all.count
    summary.bytes = all.reduce(0) { $0 + $1.entry.bytes }
    return summary
  }

  private mutating func addFiles(_ known: [FileEntry: BackupList.File]) throws(BackupError) {
    for entry in try DataFolder.files(in: data) {
      // Content never changes; another file is as it was if its size and time are.
      if let have = files[entry.path], have.entry == entry || DataFolder.contentHash(entry.path) != nil { continue }
      if let same = known[entry], folder.has(same.hash, bytes: entry.bytes) {
        files[entry.path] = same
      } else if let hash = DataFolder.contentHash(entry.path), folder.has(hash, bytes: entry.bytes) {
        files[entry.path] = BackupList.File(entry: entry, hash: hash)
      } else if let copied = try folder.add("\(data)/\(entry.path)") {
        // A recording may have grown: what counts is what was copied.
        let copy = FileEntry(path: entry.path, bytes: copied.bytes, modified: entry.modified)
        files[entry.path] = BackupList.File(entry: copy, hash: copied.hash)
        count(copied.bytes)
      }
    }
  }

  private mutating func addDatabase() throws(BackupError) -> (schema: Int, media: Set<String>) {
    try DatabaseFile(reading: data + "/" + DataFolder.database).copy(to: folder.newFile)
    guard chmod(folder.newFile, 0o600) == 0 else { throw .system(folder.newFile) }
    try FileContent.sync(folder.newFile)
    guard let summary = try FileContent.read(folder.newFile) else { throw .system(folder.newFile) }
    try folder.keep(summary)
    let entry = FileEntry(path: DataFolder.database, bytes: summary.bytes, modified: made * 1_000)
    files[entry.path] = BackupList.File(entry: entry, hash: summary.hash)
    count(summary.bytes)
    let copy = try DatabaseFile(immutable: folder.file(summary.hash))
    return (try copy.schema(), Set(try copy.media().keys))
  }

  private mutating func count(_ bytes: Int64) {
    summary.copiedFiles += 1
    summary.copiedBytes += bytes
  }
}
