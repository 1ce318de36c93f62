import CallServer
import FilesTesting
import Glibc
import Homeserver
import Telemetry
import Testing

@testable import martlet

/// Which folder the commands use, and whose it is.
@Suite("Data folder")
struct DataFolderTests {
  /// Every command that works in a folder which is there already, with operands that could be meant.
  private static let commands: [[String]] =
    AdminCommand.all.map { command in
      command.syntax.words + command.syntax.operands.map { $0 == "NUMBER" ? "1" : "x" } + ["--yes"]
    } + [["backup", "/tmp/martlet-no-backup"], ["check"], ["check", "--repair"]]

  private static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  @Test("A command refuses a folder without a database and creates nothing", arguments: Self.commands)
  func refusesFolder(words: [String]) async throws {
    let folder = try TemporaryFolder()
    let empty = folder.path + "/empty"
    #expect(mkdir(empty, 0o700) == 0 && chmod(empty, 0o755) == 0)
    for path in [folder.path + "/typo", empty] {
      #expect(await Program.run(["martlet"] + words + ["--data-dir", path]) == 1)
    }
    #expect(Self.names(in: folder.path) == ["empty"])
    #expect(Self.names(in: empty) == [])
    var status = stat()
    #expect(stat(empty, &status) == 0 && status.st_mode & 0o777 == 0o755)
    #expect(access("/tmp/martlet-no-backup", F_OK) != 0)
  }

  /// Makes a folder as `martlet serve --server-name NAME` does, with an account if `user` says so.
  private static func make(_ path: String, _ server: String, user: String?) async throws {
    let loaded = try ConfigurationLoader.load(
      flags: ["--data-dir", path, "--server-name", server, "--password-hash-memory-mib", "8"], environment: [:])
    do {
      let directory = try DataDirectory(path)
      let homeserver = try Homeserver(
        loaded.configuration.homeserver(in: directory), tables: CallTables.statements, log: Log("test"))
      await homeserver.shutdown()
      withExtendedLifetime(directory) {}
    }
    guard let user else { return }
    let connection = try await AdminConnection.open(loaded)
    _ = try await connection.call(
      .put, "/_synapse/admin/v2/users/@\(user):\(server)", .object { $0.member("password", "correct horse") })
    await connection.close()
  }

  private static func name(_ path: String, _ flags: String...) async throws -> String {
    let loaded = try ConfigurationLoader.load(flags: ["--data-dir", path] + flags, environment: [:])
    let connection = try await AdminConnection.open(loaded)
    await connection.close()
    return connection.serverName
  }

  @Test("Commands take the server name from the accounts in the folder", arguments: ["chat.example", "localhost:8448"])
  func serverName(server: String) async throws {
    let folder = try TemporaryFolder()
    try await Self.make(folder.path, server, user: "ann")
    #expect(try await Self.name(folder.path) == server)
    #expect(try await Self.name(folder.path, "--server-name", server) == server)
    #expect(await Program.run(["martlet", "user", "show", "ann", "--data-dir", folder.path]) == 0)
    await #expect(throws: (any Error).self) { try await Self.name(folder.path, "--server-name", "other.example") }
  }

  @Test("A dry run of restore looks at the backup while the data folder is there, and changes nothing")
  func dryRun() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data", backup = folder.path + "/backup"
    try await Self.make(data, "chat.example", user: "ann")
    #expect(await Program.run(["martlet", "backup", backup, "--quiet", "--data-dir", data]) == 0)
    #expect(await Program.run(["martlet", "restore", backup, "--data-dir", data]) == 1)
    #expect(await Program.run(["martlet", "restore", backup, "--dry-run", "--data-dir", data]) == 0)
    #expect(Self.names(in: folder.path).sorted() == ["backup", "data"])
  }

  @Test("Without accounts the setting names the server")
  func noAccounts() async throws {
    let folder = try TemporaryFolder()
    try await Self.make(folder.path, "chat.example", user: nil)
    #expect(try await Self.name(folder.path) == "localhost")
    #expect(try await Self.name(folder.path, "--server-name", "chat.example") == "chat.example")
  }

  @Test("The server does not start under a name that no account has")
  func otherName() async throws {
    let folder = try TemporaryFolder()
    try await Self.make(folder.path, "chat.example", user: "ann")
    let words = ["serve", "--data-dir", folder.path, "--bind", "127.0.0.1:0", "--calls-enabled", "false"]
    #expect(await Program.run(["martlet"] + words) == 1)
  }
}
