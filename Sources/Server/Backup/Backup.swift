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
    /// Content in the data folder whose SHA-256 is not its name.
    package var damagedMedia = 0
    /// Of the missing and damaged content, what the backup still has from the backup before.
    package var keptMedia = 0

    /// Whether all content that the database names is in the data folder, and whole as far as it was read.
    package var isWhole: Bool { missingMedia + damagedMedia == 0 }
  }

  private let data: String
  private let place: any BackupPlace
  private let made: Int64
  private let isContentInBucket: Bool
  private var files: [String: BackupList.File] = [:]
  private var summary = Summary()

  /// - Parameters:
  ///   - isContentInBucket: whether the content that the database names lies in a bucket, and so in no backup.
  ///   - now: milliseconds since 1970.
  /// Throws `BackupError`. The folder is then as it was before: a full disk has no part of the new backup on it. A backup that was killed
  /// leaves the files that it had copied, and the next one uses them.
  package static func make(
    of data: String, in path: String, isContentInBucket: Bool = false, now: Int64
  ) throws(BackupError) -> Summary {
    let database = data + "/" + DataFolder.database
    guard FileContent.status(database) != nil else { throw .database(path: database, reason: "the file does not exist") }
    guard !DataFolder.holds(path, in: data) else {
      throw .file(path: path, reason: "a backup cannot be inside the data folder \(data)")
    }
    return try make(of: data, isContentInBucket, in: try BackupFolder(path, makes: true), now: now)
  }

  /// Makes a backup as a tar stream (`BackupStream`).
  ///
  /// - Parameters:
  ///   - temporary: a folder with room for the database.
  ///   - isContentInBucket: as in `make(of:in:)`.
  ///   - now: milliseconds since 1970.
  /// Throws `BackupError`. What was written until then is not a whole backup.
  package static func make(
    of data: String, writing descriptor: Int32, temporary: String, isContentInBucket: Bool = false, now: Int64
  ) throws(BackupError) -> Summary {
    let database = data + "/" + DataFolder.database
    guard FileContent.status(database) != nil else { throw .database(path: database, reason: "the file does not exist") }
    return try make(
      of: data, isContentInBucket, in: try BackupStream(writing: descriptor, temporary: temporary, now: now), now: now)
  }

  private static func make(
    of data: String, _ isContentInBucket: Bool, in place: any BackupPlace, now: Int64
  ) throws(BackupError) -> Summary {
    var backup = Backup(data: data, place: place, made: now, isContentInBucket)
    do throws(BackupError) {
      return try backup.run()
    } catch {
      try? place.giveUp()
      throw error
    }
  }

  private init(data: String, place: any BackupPlace, made: Int64, _ isContentInBucket: Bool) {
    (self.data, self.place, self.made, self.isContentInBucket) = (data, place, made, isContentInBucket)
  }

  /// Files before the database and after: content that a user deletes meanwhile is in the first pass, content that comes in the second.
  private mutating func run() throws(BackupError) -> Summary {
    let previous = try? place.list()
    let known = Dictionary((previous?.files ?? []).map { ($0.entry, $0) }) { first, _ in first }
    try addFiles(known)
    let (schema, media) = try addDatabase()
    try addFiles(known)
    keepEarlierContent(media, of: previous)
    // What came after the database was copied, or is no longer named, is nothing that the copy could find.
    let all = files.values.filter { DataFolder.contentHash($0.entry.path).map(media.contains) ?? true }.sorted {
      $0.entry.path < $1.entry.path
    }
    try place.finish(BackupList(schema: schema, made: made, files: all))
    summary.files = all.count
    summary.bytes = all.reduce(0) { $0 + $1.entry.bytes }
    return summary
  }

  /// Counts missing and damaged content, and keeps what the backup before has of it: the only whole copy that is left.
  private mutating func keepEarlierContent(_ media: Set<String>, of previous: BackupList?) {
    let earlier = Dictionary((previous?.files ?? []).map { ($0.entry.path, $0) }) { first, _ in first }
    for hash in media {
      let path = DataFolder.contentPath(hash)
      switch files[path]?.hash {
      case hash: continue
      case nil: summary.missingMedia += 1
      case _?: summary.damagedMedia += 1
      }
      guard let file = earlier[path], file.hash == hash, place.has(hash, bytes: file.entry.bytes) else { continue }
      files[path] = file
      summary.keptMedia += 1
    }
  }

  private mutating func addFiles(_ known: [FileEntry: BackupList.File]) throws(BackupError) {
    for entry in try DataFolder.files(in: data) {
      // Content never changes; another file is as it was if its size and time are.
      if let have = files[entry.path], have.entry == entry || DataFolder.contentHash(entry.path) != nil { continue }
      if let same = known[entry], place.has(same.hash, bytes: entry.bytes) {
        files[entry.path] = same
      } else if let hash = DataFolder.contentHash(entry.path), place.has(hash, bytes: entry.bytes) {
        files[entry.path] = BackupList.File(entry: entry, hash: hash)
      } else if let copied = try place.add("\(data)/\(entry.path)", isFixed: DataFolder.contentHash(entry.path) != nil) {
        // A recording may have grown: what counts is what was copied.
        let copy = FileEntry(path: entry.path, bytes: copied.bytes, modified: entry.modified)
        files[entry.path] = BackupList.File(entry: copy, hash: copied.hash)
        count(copied.bytes)
      }
    }
  }

  private mutating func addDatabase() throws(BackupError) -> (schema: Int, media: Set<String>) {
    let file = place.newFile
    try DatabaseFile(reading: data + "/" + DataFolder.database).copy(to: file)
    guard chmod(file, 0o600) == 0 else { throw .system(file) }
    try FileContent.sync(file)
    guard let summary = try FileContent.read(file) else { throw .system(file) }
    let (schema, media) = try content(of: DatabaseFile(immutable: file))
    try place.keep(summary)
    let entry = FileEntry(path: DataFolder.database, bytes: summary.bytes, modified: made * 1_000)
    files[entry.path] = BackupList.File(entry: entry, hash: summary.hash)
    count(summary.bytes)
    return (schema, media)
  }

  private func content(of copy: DatabaseFile) throws(BackupError) -> (schema: Int, media: Set<String>) {
    (try copy.schema(), isContentInBucket ? [] : Set(try copy.media().keys))
  }

  private mutating func count(_ bytes: Int64) {
    summary.copiedFiles += 1
    summary.copiedBytes += bytes
  }
}
