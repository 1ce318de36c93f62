import CallServer
import EventLoop
import Glibc
import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel
import ServerAccounts
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

  /// Throws `StartError`, and what opening the database throws.
  static func open(_ configuration: Configuration) async throws -> AdminConnection {
    do {
      let directory = try DataDirectory(configuration.dataDirectory)
      let homeserver = try Homeserver(
        try configuration.homeserver(in: directory), tables: CallTables.statements, log: Log("homeserver"))
      var api = APIConfiguration()
      let key = AccessToken.random(prefix: "mlo_")
      api.operatorKey = key
      let projects = try CallProjects(homeserver)
      let router = HomeserverAPI.router(for: homeserver, api) { $0.addCallKeyRoutes(projects) }
      let calls = OperatorCalls(router: router, key: key)
      return AdminConnection(way: .stopped(homeserver, calls, directory), serverName: configuration.serverName)
    } catch StartError.directoryInUse(let path) {
      return AdminConnection(way: .running(folder: path), serverName: configuration.serverName)
    }
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
    var connection = try UnixSocket.connect(in: folder)
    while connection == nil, waited < startMilliseconds {
      try await Task.sleep(for: .milliseconds(50))
      waited += 50
      connection = try UnixSocket.connect(in: folder)
    }
    guard let connection else {
      throw StartError.failed(
        "another martlet uses the data_dir \(folder) and does not listen on \(folder)/\(UnixSocket.name); stop it or try again")
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
