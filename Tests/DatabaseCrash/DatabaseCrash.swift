import Database
import Glibc

/// The process that `CrashTests` kills: 16 tasks write to the database, a file or a URL, named by the argument for ever, and each write is
/// told on standard output, one line "position author", as soon as it has been acknowledged.
@main
struct DatabaseCrash {
  static let migration = Migration(
    version: 1, name: "written",
    statements: ["CREATE TABLE written(position INTEGER PRIMARY KEY, author TEXT NOT NULL UNIQUE, body BLOB) STRICT"])

  static func main() async throws {
    let argument = CommandLine.arguments[1]
    var configuration =
      PostgreSQLAddress(argument).map { DatabaseConfiguration(server: $0) } ?? DatabaseConfiguration(path: argument)
    configuration.checkpointPages = 50  // so that checkpoints are interrupted too
    let database = try Database(configuration, migrations: [migration])
    let body = [UInt8](repeating: 42, count: 700)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for number in 0... { try await write("\(getpid())/\(task)/\(number)", body, to: database) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func write(_ author: String, _ body: [UInt8], to database: Database) async throws {
    let position = try await database.write { transaction in
      let position = transaction.nextPosition()
      try transaction.execute(
        "INSERT INTO written(position, author, body) VALUES ($1, $2, $3)", position, author, body)
      return position
    }
    let line = Array("\(position) \(author)\n".utf8)
    // One call for the whole line: a pipe takes up to 4096 bytes at once, unbroken.
    _ = Glibc.write(STDOUT_FILENO, line, line.count)
  }
}
