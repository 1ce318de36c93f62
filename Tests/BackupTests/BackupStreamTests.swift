import FilesTesting
import Glibc
import Testing

@testable import Backup

@Suite("Backup as a tar stream")
struct BackupStreamTests {
  /// Writes the backup of a world into a file and returns its path.
  private func stream(_ world: World) throws -> String {
    let path = world.folder.path + "/backup.tar"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    let summary = try Backup.make(of: world.data, writing: file, temporary: world.folder.path, now: 1_790_000_000_000)
    #expect(summary.files == 3)
    #expect(try FileContent.names(in: world.folder.path).sorted() == ["backup.tar", "data"], "no temporary file is left")
    return path
  }

  private func restore(_ path: String, _ world: World, isDry: Bool = false) throws -> Restore.Summary {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    guard !isDry else { return try Restore.check(reading: file, newestSchema: 1) }
    return try Restore.run(reading: file, to: world.folder.path + "/restored", newestSchema: 1)
  }

  @Test("A stream is restored with the database, the content and the keys, and leaves nothing else")
  func restores() throws {
    let world = try World()
    let path = try stream(world)
    #expect(try restore(path, world, isDry: true).files == 3)
    #expect(!world.exists("restored"))
    #expect(try restore(path, world).files == 3)
    for name in ["signing.key", "media/2c/\(World.hash)"] {
      #expect(try FileContent.read("\(world.data)/\(name)") == FileContent.read("\(world.folder.path)/restored/\(name)"))
    }
    #expect(try DatabaseFile(reading: world.folder.path + "/restored/martlet.db").media() == [World.hash: 5])
    try FileContent.walk(world.folder.path + "/restored") { _, status in #expect(status.st_mode & 0o077 == 0) }
    #expect(!world.exists("restored.incoming"))
    #expect(throws: BackupError.exists(path: world.folder.path + "/restored")) { try restore(path, world) }
  }

  @Test("A stream that was cut off anywhere is refused and leaves nothing")
  func cutOff() throws {
    let world = try World()
    let path = try stream(world)
    let whole = try #require(fileBytes(path))
    // The list of three files, and the two blocks that end the stream.
    for missing in [512, 1_024, 1_536, 2_048, 2_049, 10_000, whole.count - 512, whole.count] {
      #expect(truncate(path, whole.count - missing) == 0)
      let ends = missing == 512
      if ends {
        #expect(try restore(path, world, isDry: true).files == 3)
      } else {
        for isDry in [true, false] {
          #expect(throws: BackupError.incomplete(path: BackupStream.name), "\(missing)") {
            try restore(path, world, isDry: isDry)
          }
        }
      }
      #expect(!world.exists("restored") && !world.exists("restored.restoring") && !world.exists("restored.incoming"))
      try FileContent.remove(path)
      let file = open(path, O_WRONLY | O_CREAT, 0o600)
      try FileContent.write(whole[...], to: file, path)
      close(file)
    }
  }

  @Test("A stream with a changed byte is refused", arguments: [true, false])
  func damaged(isDry: Bool) throws {
    let world = try World()
    let path = try stream(world)
    let whole = try #require(fileBytes(path))
    let content = try #require(whole.indices.first { whole[$0...].starts(with: "hello".utf8) })
    let file = open(path, O_WRONLY)
    defer { close(file) }
    pwrite(file, "j", 1, off_t(content))
    let error = #expect(throws: BackupError.self) { try restore(path, world, isDry: isDry) }
    guard case .damagedFiles = error else { throw error ?? .incomplete(path: "") }
    pwrite(file, "h", 1, off_t(content))
    pwrite(file, "X", 1, 3)
    #expect(throws: BackupError.foreign(path: BackupStream.name)) { try restore(path, world, isDry: isDry) }
  }

  @Test("Restore names the program that unpacks a compressed stream", arguments: [true, false])
  func compressed(isDry: Bool) throws {
    let world = try World()
    let path = world.folder.path + "/compressed.tar"
    for (start, program) in [
      ([0x1F, 0x8B, 8], "gunzip"), ([0x28, 0xB5, 0x2F, 0xFD], "unzstd"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "unxz"),
      ([0x42, 0x5A, 0x68, 0x39], "bunzip2")
    ] as [([UInt8], String)] {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      try FileContent.write((start + [UInt8](repeating: 7, count: 1_000))[...], to: file, path)
      close(file)
      #expect(throws: BackupError.compressed(program: program)) { try restore(path, world, isDry: isDry) }
    }
  }

  @Test(
    "A stream cannot write outside of its folder",
    arguments: ["../x", "/tmp/x", "files/../x", "files/2c/../../x", "letter", "files/ab/abc"])
  func foreign(name: String) throws {
    let world = try World()
    let path = world.folder.path + "/foreign.tar"
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    try FileContent.write((TarEntry(name: name, bytes: 0, modified: 1).block + TarEntry.end)[...], to: file, path)
    close(file)
    for isDry in [true, false] {
      #expect(throws: BackupError.foreign(path: BackupStream.name)) { try restore(path, world, isDry: isDry) }
    }
    #expect(!world.exists("x") && !world.exists("restored.incoming"))
  }

  @Test("A reader that goes away is an error, and no temporary file is left")
  func brokenPipe() throws {
    let world = try World()
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    #expect(throws: BackupError.file(path: BackupStream.name, reason: "Broken pipe")) {
      try Backup.make(of: world.data, writing: ends[1], temporary: world.folder.path, now: 1)
    }
    #expect(try FileContent.names(in: world.folder.path) == ["data"])
  }

  @Test(
    "A head is read as it was written, with sizes of 8 GiB and more",
    arguments: [0, 1, 511, 512, (1 << 33) - 1, 1 << 33, 1 << 40])
  func heads(bytes: Int64) throws {
    let entry = TarEntry(name: "files/2c/" + World.hash, bytes: bytes, modified: 1_790_000_000)
    #expect(TarEntry(entry.block) == entry)
    #expect((bytes + Int64(entry.padding)) % 512 == 0)
    var broken = entry.block
    broken[0] ^= 1
    #expect(TarEntry(broken) == nil)
  }
}
