import CallServer
import Database
import EventLoop
import Glibc
import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel
import ServerAccounts
import Shell
import Telemetry

/// The administration of one data folder: through the server that uses it, or without one by opening it.
struct AdminConnection: Sendable {
  private enum Way: Sendable {
    case running(folder: String)
    case stopped(Homeserver, OperatorCalls, DataDirectory)
  }

  private let way: Way
  /// For users that are named by their localpart.
  let serverName: String

  /// Tries for this long to reach a server that is starting.
  private static let startMilliseconds = 5_000
  private static let answerSeconds = 600

  /// Opens the data folder of the settings, or finds the server that uses it.
  ///
  /// The server's name is that of the server that runs, or of the accounts in the folder. Without both, the settings say it.
  /// Throws `StartError`, also if the settings name another server, and what opening the database throws.
  static func open(_ loaded: LoadedConfiguration) async throws -> AdminConnection {
    var configuration = loaded.configuration
    let isNamed = loaded.origins["server_name"] != nil
    let database = try configuration.database.configuration()
    // A server that runs may know a database that these settings do not name.
    if database == nil, !DataDirectory.isInUse(configuration.dataDirectory) {
      try DataDirectory.requireDatabase(in: configuration.dataDirectory)
    }
    do {
      let directory = try DataDirectory(configuration.dataDirectory)
      if !isNamed,
        let name = try await AccountServer.name(
          in: database ?? DatabaseConfiguration(path: directory.path + "/martlet.db"), tables: CallTables.statements)
      {
        configuration.serverName = name.text.string
      }
      return try await open(configuration, in: directory)
    } catch StartError.directoryInUse(let path) {
      let name = try await serverName(in: path) ?? configuration.serverName
      guard !isNamed || name == configuration.serverName else {
        throw StartError.failed("the server that uses \(path) is \(name), but server_name is \(configuration.serverName)")
      }
      return AdminConnection(way: .running(folder: path), serverName: name)
    }
  }

  private static func open(_ configuration: Configuration, in directory: DataDirectory) async throws -> AdminConnection {
    let homeserver = try Homeserver(
      try configuration.homeserver(in: directory), tables: CallTables.statements, log: Log("homeserver"))
    do { try await homeserver.checkServerName() } catch {
      await homeserver.shutdown()
      throw error
    }
    var api = APIConfiguration()
    let key = AccessToken.random(prefix: "mlo_")
    api.operatorKey = key
    let projects = try CallProjects(homeserver)
    let router = HomeserverAPI.router(for: homeserver, api) { $0.addCallKeyRoutes(projects) }
    return AdminConnection(
      way: .stopped(homeserver, OperatorCalls(router: router, key: key), directory), serverName: configuration.serverName)
  }

  /// Asks the server that uses the folder; nil if it is of a version that does not tell.
  private static func serverName(in folder: String) async throws -> String? {
    let answer = try await ask(OperatorCalls.Call(.get, AdminCall.ownAdministration + "/server"), in: folder)
    return answer.status == 200 ? (try? JSON.parse(answer.body))?["server_name"]?.string : nil
  }

  /// Lets go of the data folder.
  func close() async {
    if case .stopped(let homeserver, _, _) = way { await homeserver.shutdown() }
  }

  /// The answer's body. Throws `MatrixError` for a refusal.
  func call(_ method: Method, _ path: String, _ body: JSON? = nil) async throws -> JSON {
    let call = OperatorCalls.Call(method, path, body.map { Array($0.bytes) })
    let answer: OperatorCalls.Answer
    switch way {
    case .stopped(_, let calls, _): answer = await calls.answer(call)
    case .running(let folder): answer = try await Self.ask(call, in: folder)
    }
    let json = try? JSON.parse(answer.body)
    guard (200..<300).contains(answer.status), let json else { throw MatrixError(status: answer.status, body: json) }
    return json
  }

  private static func ask(_ call: OperatorCalls.Call, in folder: String) async throws -> OperatorCalls.Answer {
    var waited = 0
    let socket = AdminSocket.address(in: folder)
    var connection = try socket.connect()
    while connection == nil, waited < startMilliseconds {
      try await Task.sleep(for: .milliseconds(50))
      waited += 50
      connection = try socket.connect()
    }
    guard let connection else {
      throw StartError.failed(
        "another martlet uses the data_dir \(folder) and does not listen on \(socket.path); stop it or try again")
    }
    defer { Glibc.close(connection) }
    UnixSocket.limitWaits(connection, seconds: answerSeconds)
    let sent = UnixSocket.writeAll(connection, call.bytes)
    shutdown(connection, Int32(SHUT_WR))
    guard sent, let bytes = UnixSocket.readAll(connection, limit: 256 << 20),
      let end = bytes.firstIndex(of: UInt8(ascii: "\n")), let status = Int(String(decoding: bytes[..<end], as: UTF8.self))
    else { throw StartError.failed("the server ended the connection without an answer; its log may say why") }
    return OperatorCalls.Answer(status: status, body: Array(bytes[(end + 1)...]))
  }
}
