import Glibc
import Testing

@testable import Database

@Suite("Sudden death", .serialized)
struct CrashTests {
  let folder = try! Folder()
  private let migration = Migration(
    version: 1, name: "written",
    statements: ["CREATE TABLE written(position INTEGER PRIMARY KEY, author TEXT NOT NULL UNIQUE, body BLOB) STRICT"])

  @Test(
    "A writer killed in the middle of group commits loses nothing it acknowledged, and the stream keeps no gap",
    arguments: Engine.present)
  func killedWriter(engine: Engine) throws {
    var acknowledged: [Int64: String] = [:]
    for acknowledgements in [1, 40, 333, 1_000, 2_500] {
      let lines = try killAfter(acknowledgements, engine)
      #expect(lines.count >= acknowledgements)
      for line in lines {
        let parts = line.split(separator: " ")
        let position = try #require(Int64(parts[0]))
        #expect(acknowledged.updateValue(String(parts[1]), forKey: position) == nil)
      }
      try check(acknowledged, engine)
    }
  }

  /// Every acknowledged row is there as it was told, positions run from 1 without a gap, and the head is the last.
  private func check(_ acknowledged: [Int64: String], _ engine: Engine) throws {
    let database = try folder.open(on: engine, [migration])
    let rows = try database.readBlocking { transaction in
      try transaction.all("SELECT position, author, length(body) FROM written ORDER BY position") {
        (position: $0.integer(0), author: $0.text(1), bytes: $0.integer(2))
      }
    }
    #expect(rows.map(\.position) == Array(1...Int64(rows.count)))
    #expect(rows.allSatisfy { $0.bytes == 700 })
    #expect(database.committedPosition == Int64(rows.count))
    let stored = Dictionary(uniqueKeysWithValues: rows.map { ($0.position, $0.author) })
    let lost = acknowledged.filter { stored[$0.key] != $0.value }
    #expect(lost.isEmpty)
    guard engine == .sqlite else { return }
    #expect(try database.readBlocking { try $0.first("PRAGMA integrity_check") { $0.text(0) } } == "ok")
  }

  /// Starts a writer, kills it once it has told of that many writes, and returns every line it told.
  private func killAfter(_ acknowledgements: Int, _ engine: Engine) throws -> [Substring] {
    var pipeEnds: [Int32] = [0, 0]
    try #require(pipe(&pipeEnds) == 0)
    for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(pipeEnds[0]) }
    let child = try spawn(engine, output: pipeEnds[1])
    close(pipeEnds[1])
    var told: [UInt8] = []
    var lineCount = 0
    while lineCount < acknowledgements, let more = Self.read(pipeEnds[0]) {
      told += more
      lineCount += more.count { $0 == UInt8(ascii: "\n") }
    }
    kill(child, SIGKILL)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    #expect(status & 0x7F == SIGKILL, "the writer ended by itself")
    // What it still told before it died. Not read to the end of the file: another child may have inherited the pipe.
    _ = fcntl(pipeEnds[0], F_SETFL, O_NONBLOCK)
    while let more = Self.read(pipeEnds[0]) { told += more }
    return String(decoding: told, as: UTF8.self).split(separator: "\n")
  }

  /// nil at the end, or when there is nothing yet.
  private static func read(_ descriptor: Int32) -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    return count > 0 ? buffer[..<count] : nil
  }

  private func spawn(_ engine: Engine, output: Int32) throws -> pid_t {
    var path = [CChar](repeating: 0, count: 4_096)
    let length = readlink("/proc/self/exe", &path, path.count - 1)
    let tests = String(decoding: path[..<max(0, length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let program = tests.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/database-crash"
    try #require(access(program, X_OK) == 0, "\(program) is not there")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    var arguments: [UnsafeMutablePointer<CChar>?] = try [
      strdup(program), strdup(engine == .sqlite ? folder.database : folder.serverURL()), nil
    ]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    try #require(posix_spawn(&child, program, &actions, nil, &arguments, environ) == 0)
    return child
  }
}
