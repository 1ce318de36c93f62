import CallServer
import Database
import Glibc
import Homeserver
import PostgreSQLTesting
import Testing

/// The SQL of the whole server, as it stands in the sources.
private enum Statements {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// All literals that are statements for rows; those of the engines themselves are left out.
  static func all() throws -> [String] {
    var statements: Set<String> = []
    for path in try files(in: root + "/Sources/Server")
    where !path.contains("/Server/Database/") && !path.contains("/Server/Backup/") {
      for literal in literals(in: try content(of: path)) where isStatement(literal) { statements.insert(literal) }
    }
    return statements.sorted()
  }

  private static func isStatement(_ text: String) -> Bool {
    ["SELECT ", "SELECT\n", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH "].contains { text.hasPrefix($0) }
      && !text.contains("\\(")
  }

  /// The string literals of a file: in three quotes, with the indentation taken off, or in one.
  private static func literals(in source: String) -> [String] {
    var literals: [String] = []
    var block: [Substring]?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if let lines = block {
        guard text.hasPrefix("\"\"\"") else {
          block?.append(line)
          continue
        }
        let indentation = line.count - text.count
        literals.append(lines.map { String($0.dropFirst(indentation)) }.joined(separator: "\n").replacing("\\\n", with: ""))
        block = nil
      } else if line.hasSuffix("\"\"\"") {
        block = []
      } else if !text.hasPrefix("//") {
        literals += line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
          !$0.offset.isMultiple(of: 2)
        }.map {
          String($0.element)
        }
      }
    }
    return literals
  }

  private static func files(in folder: String) throws -> [String] {
    guard let stream = opendir(folder) else { throw Unreadable(path: folder) }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
      let path = folder + "/" + name
      if entry.pointee.d_type == DT_DIR { found += try files(in: path) } else if name.hasSuffix(".swift") { found.append(path) }
    }
    return found
  }

  private static func content(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private struct Unreadable: Error { let path: String }
}

@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct StatementsTests {
  @Test func `PostgreSQL takes the schema, and every statement of the server`() throws {
    let server = try PostgreSQLServer.shared()
    let name = try server.makeDatabase()
    defer { server.drop(name) }
    let address = try #require(PostgreSQLAddress(server.url(of: name)))
    try Database(DatabaseConfiguration(server: address), migrations: Schema.migrations(with: CallTables.statements)).close()
    let statements = try Statements.all()
    #expect(statements.count > 400)
    for (statement, reason) in server.refusedStatements(statements, in: name) { Issue.record("\(reason) \(statement)") }
  }
}
