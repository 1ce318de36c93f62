import Database
import FilesTesting
import Glibc
import Testing

@testable import Backup

/// A data folder with a database, a file of content and a key.
final class World {
  static let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  // SHA-256 of "hello"

  let folder: TemporaryFolder
  var data: String { folder.path + "/data" }
  var backup: String { folder.path + "/backup" }
  var content: String { "\(data)/media/2c/\(Self.hash)" }

  init(schema: Int = 1) throws {
    folder = try TemporaryFolder()
    try FileContent.makeFolder(data + "/media/2c")
    let database = try Database(DatabaseConfiguration(path: data + "/martlet.db"), migrations: Self.steps(schema: schema))
    _ = try database.writeBlocking {
      try $0.execute("INSERT INTO media(media_id, hash, bytes) VALUES ('m', $1, 5)", World.hash)
    }
    database.close()
    try FileContent.write("hello", toNew: content)
    try FileContent.write("secret", toNew: data + "/signing.key")
  }

  static func steps(schema: Int) -> [Migration] {
    (1...schema).map { version in
      Migration(
        version: version, name: "step \(version)",
        statements: version == 1
          ? [
            "CREATE TABLE media(media_id TEXT PRIMARY KEY, hash TEXT NOT NULL, bytes INTEGER NOT NULL) STRICT",
            "CREATE TABLE media_pending(media_id TEXT PRIMARY KEY) STRICT"
          ] : [])
    }
  }

  @discardableResult
  func back() throws -> Backup.Summary { try Backup.make(of: data, in: backup, now: 1) }

  func restore(newestSchema: Int = 1, isDry: Bool = false) throws -> Restore.Summary {
    guard !isDry else { return try Restore.check(backup, newestSchema: newestSchema) }
    return try Restore.run(from: backup, to: folder.path + "/restored", newestSchema: newestSchema)
  }

  func exists(_ path: String) -> Bool { access("\(folder.path)/\(path)", F_OK) == 0 }
}

@Suite("Backup")
struct BackupTests {
  @Test("A restored backup has the database, the content and the keys, for the owner only")
  func restores() throws {
    let world = try World()
    #expect(try world.back().files == 3)
    #expect(try world.restore().files == 3)
    for path in ["signing.key", "media/2c/\(World.hash)"] {
      #expect(try FileContent.read("\(world.data)/\(path)") == FileContent.read("\(world.folder.path)/restored/\(path)"))
    }
    let restored = try DatabaseFile(reading: world.folder.path + "/restored/martlet.db")
    #expect(try restored.media() == [World.hash: 5])
    #expect(try restored.faults() == [])
    try FileContent.walk(world.folder.path + "/restored") { _, status in #expect(status.st_mode & 0o077 == 0) }
    try FileContent.walk(world.backup) { _, status in #expect(status.st_mode & 0o077 == 0) }
  }

  @Test("A backup of an open database has what was committed and not yet moved out of the log")
  func openDatabase() throws {
    let world = try World()
    let database = try Database(
      DatabaseConfiguration(path: world.data + "/martlet.db"), migrations: World.steps(schema: 1))
    defer { database.close() }
    _ = try database.writeBlocking { try $0.execute("INSERT INTO media(media_id, hash, bytes) VALUES ('new', 'ff', 1)") }
    #expect(try world.back().missingMedia == 1)
    _ = try world.restore()
    #expect(try DatabaseFile(reading: world.folder.path + "/restored/martlet.db").media() == [World.hash: 5, "ff": 1])
  }

  @Test("The next backup copies the database and what has changed")
  func incremental() throws {
    let world = try World()
    #expect(try world.back().copiedFiles == 3)
    #expect(try world.back().copiedFiles == 1)
    try FileContent.write("other key", toNew: world.data + "/signing.key")
    #expect(try world.back().copiedFiles == 2)
    _ = try world.restore()
    #expect(
      try FileContent.read(world.folder.path + "/restored/signing.key") == FileContent.read(world.data + "/signing.key"))
  }

  @Test("An interrupted backup leaves the one before, and the next one removes what it left")
  func interrupted() throws {
    let world = try World()
    try world.back()
    // As a killed backup leaves it: a file under way, content that no list names, and a list that has no name yet.
    try FileContent.makeFolder(world.backup + "/incoming")
    try FileContent.write("hal", toNew: world.backup + "/incoming/file")
    try FileContent.makeFolder(world.backup + "/files/ab")
    try FileContent.write("whole", toNew: world.backup + "/files/ab/abc")
    try FileContent.write("martlet backup 1\n", toNew: world.backup + "/backup.list.new")
    #expect(try world.restore(isDry: true).files == 3)
    #expect(try world.back().copiedFiles == 1)
    #expect(!world.exists("backup/incoming") && !world.exists("backup/files/ab/abc") && !world.exists("backup/backup.list.new"))
  }

  @Test("A backup that fails leaves the folder as it was", arguments: [true, false])
  func failed(hasEarlier: Bool) throws {
    let world = try World()
    if hasEarlier { try world.back() }
    func files() throws -> [String] {
      var files: [String] = []
      try FileContent.walk(world.backup) { path, status in if status.isFile { files.append(path) } }
      return files.sorted()
    }
    let before = hasEarlier ? try files() : []
    try FileContent.write("other key", toNew: world.data + "/signing.key")
    // It is copied after the files.
    try FileContent.write("not a database", toNew: world.data + "/martlet.db")
    let error = #expect(throws: BackupError.self) { try world.back() }
    guard case .database = error else { throw error ?? .incomplete(path: "") }
    #expect(try files() == before)
    if hasEarlier { #expect(try world.restore().files == 3) }
  }

  @Test("A folder without a list is no backup")
  func incomplete() throws {
    let world = try World()
    try world.back()
    unlink(world.backup + "/backup.list")
    #expect(throws: BackupError.incomplete(path: world.backup)) { try world.restore() }
    #expect(try world.back().copiedFiles == 2)
    #expect(try world.restore(isDry: true).files == 3)
  }

  @Test("A list that was cut off anywhere is not read")
  func cutOff() throws {
    let file = BackupList.File(entry: FileEntry(path: "a b", bytes: 1, modified: 2), hash: World.hash)
    let list = BackupList(schema: 1, made: 3, files: [file])
    #expect(BackupList(list.text) == list)
    for count in 0..<list.text.utf8.count { #expect(BackupList(String(list.text.prefix(count))) == nil) }
    for path in ["../a", "/a", "a/../b", "", "a//b"] {
      #expect(BackupList(list.text.replacing("a b", with: path)) == nil)
    }
  }

  @Test("A damaged backup is refused and nothing is left of the restore", arguments: [true, false])
  func damaged(isDry: Bool) throws {
    let world = try World()
    try world.back()
    try FileContent.write("jello", toNew: "\(world.backup)/files/2c/\(World.hash)")
    let error = #expect(throws: BackupError.self) { try world.restore(isDry: isDry) }
    guard case .damagedFiles = error else { throw error ?? .incomplete(path: "") }
    #expect(!world.exists("restored") && !world.exists("restored.restoring"))
  }

  @Test("Restore names every damaged file of a backup, up to a limit", arguments: [true, false])
  func everyDamagedFile(isDry: Bool) throws {
    let world = try World()
    for number in 0..<DamagedFiles.namedLimit + 3 {
      try FileContent.write("key \(number)", toNew: "\(world.data)/signing-\(number).key")
    }
    try world.back()
    let content = "\(world.backup)/files"
    try FileContent.write("jello", toNew: "\(content)/2c/\(World.hash)")
    func names(_ error: BackupError?) throws -> DamagedFiles {
      guard case .damagedFiles(let files) = error else { throw error ?? .incomplete(path: "") }
      return files
    }
    let one = try names(#expect(throws: BackupError.self) { try world.restore(isDry: isDry) })
    #expect(one.count == 1 && one.description.hasSuffix("does not have the checksum that is its name"))
    try FileContent.remove(content)
    let all = try names(#expect(throws: BackupError.self) { try world.restore(isDry: isDry) })
    #expect(all.lines.count == DamagedFiles.namedLimit && all.count > DamagedFiles.namedLimit + 3)
    #expect(
      all.description.contains("is missing") && all.description.hasSuffix("and \(all.count - DamagedFiles.namedLimit) more"))
    #expect(!world.exists("restored") && !world.exists("restored.restoring"))
  }

  @Test("A dry run writes nothing; a restore overwrites nothing")
  func refuses() throws {
    let world = try World()
    try world.back()
    _ = try world.restore(isDry: true)
    #expect(!world.exists("restored"))
    try FileContent.makeFolder(world.folder.path + "/restored.restoring/left")
    _ = try world.restore()
    #expect(throws: BackupError.exists(path: world.folder.path + "/restored")) { try world.restore() }
  }

  @Test("A backup of a newer schema is refused, one of an older is restored and migrated")
  func versions() throws {
    let world = try World(schema: 2)
    try world.back()
    #expect(throws: BackupError.newer(version: 2, supported: 1)) { try world.restore(newestSchema: 1) }
    #expect(try world.restore(newestSchema: 3).schema == 2)
    let path = world.folder.path + "/restored/martlet.db"
    let database = try Database(DatabaseConfiguration(path: path), migrations: World.steps(schema: 3))
    database.close()
    #expect(try DatabaseFile(reading: path).schema() == 3)
  }

  @Test("A folder with other files, one in use and one inside the data folder take no backup")
  func folders() throws {
    let world = try World()
    try FileContent.makeFolder(world.backup)
    try FileContent.write("mine", toNew: world.backup + "/letter")
    #expect(throws: BackupError.foreign(path: world.backup)) { try world.back() }
    unlink(world.backup + "/letter")
    let held = try BackupFolder(world.backup, makes: true)
    #expect(throws: BackupError.inUse(path: world.backup)) { try world.back() }
    withExtendedLifetime(held) {}
    #expect(throws: BackupError.self) { try Backup.make(of: world.data, in: world.data + "/backup", now: 1) }
  }

  @Test("A user writes no backup into the folder of another user, and reads one there")
  func otherOwner() throws {
    let world = try World()
    try world.back()
    let error = #expect(throws: BackupError.self) { try BackupFolder(world.backup, makes: true, user: geteuid() + 1) }
    guard case .otherOwner(world.backup, _) = error else { throw error ?? .incomplete(path: "") }
    _ = try BackupFolder(world.backup, makes: false, user: geteuid() + 1)
  }

  @Test("Damaged content is backed up as it is, and counted by each backup", arguments: ["jello", "hell", ""])
  func damagedContent(text: String) throws {
    let world = try World()
    unlink(world.content)
    try FileContent.write(text, toNew: world.content)
    for _ in 1...2 {
      let summary = try world.back()
      #expect(summary.damagedMedia == 1 && summary.missingMedia == 0 && summary.keptMedia == 0 && !summary.isWhole)
    }
    _ = try world.restore()
    let restored = "\(world.folder.path)/restored/media/2c/\(World.hash)"
    #expect(try FileContent.read(restored) == FileContent.read(world.content))
  }

  @Test("A backup keeps its copy of content that is now missing or damaged", arguments: [nil, "hell", ""])
  func keepsContent(text: String?) throws {
    let world = try World()
    #expect(try world.back().isWhole)
    unlink(world.content)
    if let text { try FileContent.write(text, toNew: world.content) }
    for _ in 1...2 {
      let summary = try world.back()
      #expect(summary.missingMedia == (text == nil ? 1 : 0) && summary.damagedMedia == (text == nil ? 0 : 1))
      #expect(summary.keptMedia == 1 && summary.files == 3)
    }
    _ = try world.restore()
    #expect(try FileContent.read("\(world.folder.path)/restored/media/2c/\(World.hash)")?.hash == World.hash)
  }

  @Test("A file of the backup that was deleted is copied again")
  func deletedFile() throws {
    let world = try World()
    try world.back()
    unlink("\(world.backup)/files/2c/\(World.hash)")
    #expect(throws: BackupError.self) { try world.restore(isDry: true) }
    #expect(try world.back().copiedFiles == 2)
    _ = try world.restore(isDry: true)
  }

  @Test("Restore refuses while a server uses the folder that was moved away")
  func serverRuns() throws {
    let world = try World()
    try world.back()
    for name in ["restored.old", "other", "restored2"] {
      try FileContent.makeFolder("\(world.folder.path)/\(name)")
      try FileContent.write("", toNew: "\(world.folder.path)/\(name)/martlet.lock")
    }
    func hold(_ name: String) -> Int32 {
      let file = open("\(world.folder.path)/\(name)/martlet.lock", O_RDWR)
      #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
      return file
    }
    let others = [hold("other"), hold("restored2")], old = hold("restored.old")
    defer { for file in others { close(file) } }
    #expect(throws: BackupError.serverRuns(path: world.folder.path + "/restored.old")) { try world.restore() }
    _ = try world.restore(isDry: true)
    close(old)
    _ = try world.restore()
  }
}

@Suite("Data check")
struct DataCheckTests {
  private static func check(_ world: World, newestSchema: Int = 1) throws -> DataCheck {
    try DataCheck(world.data, newestSchema: newestSchema, hashes: true, isStopped: true)
  }

  @Test("A folder as the server leaves it is sound")
  func sound() throws {
    #expect(try Self.check(try World()).faults.isEmpty)
  }

  @Test("Content that is missing, cut off, changed or not named is found and left alone")
  func content() throws {
    let world = try World()
    for text in ["hell", "jello", nil] {
      unlink(world.content)
      if let text { try FileContent.write(text, toNew: world.content) }
      let check = try Self.check(world)
      #expect(check.faults.map(\.path) == ["media/2c/\(World.hash)"])
      #expect(try check.repair() == check.faults)
    }
    try FileContent.write("hello", toNew: world.content)
    let orphan = "\(world.data)/media/2c/2c" + String(repeating: "0", count: 62)
    try FileContent.write("orphan", toNew: orphan)
    // The server may be about to name it.
    #expect(try Self.check(world).faults.isEmpty)
    let yesterday = timespec(tv_sec: time(nil) - 86_400, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, orphan, [yesterday, yesterday], 0) == 0)
    let check = try Self.check(world)
    #expect(check.faults.count == 1)
    _ = try check.repair()
    #expect(access(orphan, F_OK) == 0)
  }

  @Test("Open permissions and leftovers of uploads are mended")
  func mends() throws {
    let world = try World()
    chmod(world.data + "/signing.key", 0o644)
    chmod(world.data + "/media", 0o755)
    for folder in ["incoming", "partial"] {
      try FileContent.makeFolder("\(world.data)/media/\(folder)")
      try FileContent.write("left", toNew: "\(world.data)/media/\(folder)/x")
    }
    let check = try Self.check(world)
    #expect(check.faults.count == 4)
    #expect(try check.repair().isEmpty)
    #expect(try Self.check(world).faults.isEmpty)
  }

  @Test("A damaged database and one of a newer program are named")
  func database() throws {
    let world = try World(schema: 2)
    #expect(try Self.check(world).faults.first?.text.contains("schema version 2") == true)
    let file = open(world.data + "/martlet.db", O_WRONLY)
    let zeros = [UInt8](repeating: 0x55, count: 4_096)
    for page in 2..<5 { pwrite(file, zeros, zeros.count, page * 4_096) }
    close(file)
    let faults = Result { try Self.check(world, newestSchema: 2).faults }
    switch faults {
    case .success(let faults): #expect(!faults.isEmpty)
    case .failure(let error): #expect(error is BackupError)
    }
  }
}
