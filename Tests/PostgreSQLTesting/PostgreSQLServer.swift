import CPostgreSQL
import Glibc

/// A PostgreSQL server of this test run, with a database for each test. It starts when the first one asks, and ends with the process.
package final class PostgreSQLServer: Sendable {
  package struct Failed: Error, CustomStringConvertible { package let description: String }

  /// Whether this machine has a server.
  package static let isInstalled =
    access("/usr/bin/initdb", X_OK) == 0 || access("/usr/lib/postgresql", F_OK) == 0
    || access("/usr/local/bin/initdb", X_OK) == 0

  /// Throws if it cannot be started.
  package static func shared() throws -> PostgreSQLServer { try started.get() }

  private static let started: Result<PostgreSQLServer, any Error> = Result { try PostgreSQLServer() }

  /// The folder of the server's socket.
  private let folder: String

  private init() throws {
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    guard pipe(&input) == 0, pipe(&output) == 0 else { throw Failed(description: "no pipe") }
    // The script ends when nobody has the other end of its input: so no child of the tests may have it.
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    let script = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/postgresql-server"
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(script), nil]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    guard posix_spawn(&child, script, &actions, nil, &arguments, environ) == 0 else {
      throw Failed(description: "\(script) cannot be run")
    }
    close(input[0])
    close(output[1])
    defer { close(output[0]) }
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    folder = String(decoding: line, as: UTF8.self)
    guard !folder.isEmpty else { throw Failed(description: "PostgreSQL did not start") }
  }

  package func url(of database: String) -> String {
    "postgres://martlet@/\(database)?host=\(folder.split(separator: "/").map { "%2F" + $0 }.joined())"
  }

  /// Runs SQL as the server's superuser and returns the first column of its rows.
  @discardableResult
  package func run(_ sql: String, in database: String = "postgres") throws -> [String] {
    let connection = PQconnectdb(url(of: database))
    defer { PQfinish(connection) }
    guard PQstatus(connection) == CONNECTION_OK else { throw Failed(description: String(cString: PQerrorMessage(connection))) }
    PQsetNoticeReceiver(connection, { _, _ in }, nil)
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      throw Failed(description: "\(String(cString: PQerrorMessage(connection))) in \(sql)")
    }
    return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
  }

  /// Makes an empty database with UTF-8 and byte order; returns its name. `options` are more words of CREATE DATABASE.
  package func makeDatabase(_ options: String = "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'") throws -> String {
    let name = "test_" + (0..<12).map { _ in String(UnicodeScalar(UInt8.random(in: 97...122))) }.joined()
    try run("CREATE DATABASE \(name) \(options)")
    return name
  }

  package func drop(_ database: String) { _ = try? run("DROP DATABASE IF EXISTS \(database) WITH (FORCE)") }

  /// Prepares statements, whose parameters may have any types. Returns what the server says of those that it refuses.
  package func refusedStatements(_ statements: [String], in database: String) -> [(statement: String, reason: String)] {
    let connection = PQconnectdb(url(of: database))
    defer { PQfinish(connection) }
    return statements.compactMap { statement in
      refusal(of: statement, on: connection).map { (statement, $0) }
    }
  }

  /// A parameter whose type the server cannot tell may be an integer or text: in the program, `SQLParameter.sqlType` says it.
  private func refusal(of statement: String, on connection: OpaquePointer?, types: [Oid] = []) -> String? {
    let result = PQprepare(connection, "", statement, Int32(types.count), types)
    defer { PQclear(result) }
    if PQresultStatus(result) == PGRES_COMMAND_OK { return nil }
    let reason = String(cString: PQresultErrorMessage(result))
    // "could not determine data type of parameter $2"
    guard reason.contains("could not determine data type"),
      let number = Int(reason.drop { $0 != "$" }.dropFirst().prefix { $0.isNumber })
    else { return reason }
    var told = types + [Oid](repeating: 0, count: max(0, number - types.count))
    guard told[number - 1] == 0 else { return reason }
    for type: Oid in [20, 25] {
      told[number - 1] = type
      if refusal(of: statement, on: connection, types: told) == nil { return nil }
    }
    return reason
  }
}
