import Glibc

/// Makes a data folder of a backup.
package struct Restore {
  /// What was restored, or would be.
  package struct Summary: Equatable {
    package let files: Int
    package let bytes: Int64
    package let schema: Int
    /// Milliseconds since 1970.
    package let made: Int64

    fileprivate init(_ list: BackupList) {
      files = list.files.count
      bytes = list.files.reduce(0) { $0 + $1.entry.bytes }
      schema = list.schema
      made = list.made
    }
  }

  /// Compares every file of a backup with its checksum, and writes nothing.
  ///
  /// - Parameter newestSchema: the newest schema that this program knows.
  /// Throws `incomplete`, `damaged`, `damagedFiles` with every damaged file, `newer`, and others of `BackupError`.
  package static func check(_ path: String, newestSchema: Int) throws(BackupError) -> Summary {
    let folder = try BackupFolder(path, makes: false)
    let list = try readList(of: folder, newestSchema)
    var damaged = DamagedFiles()
    for file in list.files {
      damaged.compare(try FileContent.read(folder.file(file.hash)), with: file, at: folder.file(file.hash))
    }
    try damaged.throwIfAny()
    return Summary(list)
  }

  /// Compares every file of a tar stream (`BackupStream`) with its checksum, and writes nothing. Throws as `check(_:)` does.
  package static func check(reading descriptor: Int32, newestSchema: Int) throws(BackupError) -> Summary {
    let stream = try BackupStreamReader.read(descriptor)
    guard let list = stream.list else { throw .incomplete(path: BackupStream.name) }
    guard list.schema <= newestSchema else { throw .newer(version: list.schema, supported: newestSchema) }
    var damaged = DamagedFiles()
    for file in list.files { damaged.compare(stream.files[file.hash], with: file, at: BackupFolder.name(of: file.hash)) }
    try damaged.throwIfAny()
    return Summary(list)
  }

  /// Compares every file with its checksum and writes the data folder. It is written beside its place under the name `<data>.restoring`
  /// and moved there in one step, so that an interrupted restore leaves no data folder.
  ///
  /// - Parameter newestSchema: the newest schema that this program knows.
  /// Throws `exists`, `serverRuns`, `mountPoint`, `incomplete`, `damaged`, `damagedFiles`, `newer`, and others of `BackupError`. `data` is then as it was.
  package static func run(from path: String, to data: String, newestSchema: Int) throws(BackupError) -> Summary {
    let folder = try BackupFolder(path, makes: false)
    let list = try readList(of: folder, newestSchema)
    let place = try freePlace(data)
    let new = place + ".restoring"
    do throws(BackupError) {
      try FileContent.remove(new)
      try FileContent.makeFolder(new)
      try copy(list.files, from: folder, to: new)
      try FileContent.walk(new) { path, status throws(BackupError) in
        if status.isFolder { try FileContent.sync("\(new)/\(path)") }
      }
      try FileContent.sync(new)
      // Takes the place of an empty folder, too, and of no other.
      guard rename(new, place) == 0 else { throw errno == EBUSY ? .mountPoint(path: place) : .system(place) }
    } catch {
      try? FileContent.remove(new)
      throw error
    }
    return Summary(list)
  }

  /// Makes a data folder of a tar stream (`BackupStream`). The stream is unpacked beside the data folder first, under the name `<data>.incoming`,
  /// which is removed at the end. So there must be room for the files twice.
  ///
  /// Throws as `run(from:)` does.
  package static func run(reading descriptor: Int32, to data: String, newestSchema: Int) throws(BackupError) -> Summary {
    let incoming = try freePlace(data) + ".incoming"
    do throws(BackupError) {
      try FileContent.remove(incoming)
      try BackupStreamReader.unpack(descriptor, to: incoming)
      let summary = try run(from: incoming, to: data, newestSchema: newestSchema)
      try FileContent.remove(incoming)
      return summary
    } catch {
      try? FileContent.remove(incoming)
      throw error
    }
  }

  private static func readList(of folder: BackupFolder, _ newestSchema: Int) throws(BackupError) -> BackupList {
    guard let list = try folder.list() else { throw .incomplete(path: folder.path) }
    guard list.schema <= newestSchema else { throw .newer(version: list.schema, supported: newestSchema) }
    return list
  }

  /// Returns the path of the data folder without a slash at its end. Throws if it cannot be made there.
  private static func freePlace(_ data: String) throws(BackupError) -> String {
    let place = data.count > 1 && data.hasSuffix("/") ? String(data.dropLast()) : data
    let names = try FileContent.names(in: data)
    if names.allSatisfy({ $0 == "lost+found" }), let own = FileContent.status(data),
      let above = FileContent.status(data + "/.."), own.st_dev != above.st_dev
    {
      throw .mountPoint(path: place)
    }
    guard names.isEmpty else { throw .exists(path: data) }
    if let path = DataFolder.usedFolder(movedFrom: place) { throw .serverRuns(path: path) }
    return place
  }

  /// Copies files and compares them with their checksums. From the first damaged file on it only reads, to name the others.
  private static func copy(_ files: [BackupList.File], from folder: BackupFolder, to data: String) throws(BackupError) {
    var damaged = DamagedFiles()
    for file in files {
      let source = folder.file(file.hash)
      guard damaged.isEmpty else {
        damaged.compare(try FileContent.read(source), with: file, at: source)
        continue
      }
      let target = "\(data)/\(file.entry.path)"
      if let slash = file.entry.path.lastIndex(of: "/") { try FileContent.makeFolder("\(data)/\(file.entry.path[..<slash])") }
      damaged.compare(try FileContent.copy(source, to: target), with: file, at: source)
      if damaged.isEmpty { try setTime(of: target, to: file.entry.modified) }
    }
    try damaged.throwIfAny()
  }

  private static func setTime(of path: String, to microseconds: Int64) throws(BackupError) {
    // The next backup sees by it that the file is as it was.
    let seconds = microseconds / 1_000_000
    let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(microseconds - seconds * 1_000_000) * 1_000)
    guard utimensat(AT_FDCWD, path, [time, time], 0) == 0 else { throw .system(path) }
  }
}
