import Database
import EventLoop
import Glibc
import HTTPServer
import JSON
import MatrixModel
import Synchronization
import Telemetry
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerRooms

/// A whole homeserver on a database in a folder of its own, asked through its router without a socket. Its clock stands
/// still until a test moves it; hashing a password is as cheap as libsodium lets it be.
final class APIFixture: Sendable {
  struct Answer: Sendable {
    let status: Int
    let json: JSON
    let headers: ResponseHeaders

    var errorCode: String? { json["errcode"]?.string }
  }

  /// An answer for a browser.
  struct PageAnswer: Sendable {
    let status: Int
    let text: String
    let headers: ResponseHeaders
  }

  struct User: Sendable {
    let userID: UserID
    let deviceID: DeviceID
    let token: String
  }

  let homeserver: Homeserver
  let router: Router
  private let pool: BlockingPool
  private let time: Time

  final class Time: Sendable {
    let milliseconds = Atomic<Int64>(1_700_000_000_000)
  }

  init(
    _ api: APIConfiguration? = nil, follower: (any RoomObserver & AccountObserver)? = nil,
    configure: (inout HomeserverConfiguration) -> Void = { $0.registration = .open }
  ) throws {
    var template = Array("/tmp/martlet-api-XXXXXX".utf8CString)
    let directory = String(cString: mkdtemp(&template))
    var configuration = HomeserverConfiguration(
      serverName: ServerName(trusted: "example.org"), dataDirectory: directory)
    configuration.passwordHashMemoryBytes = 8192
    configuration.passwordHashIterations = 1
    let time = Time()
    configuration.clock = WallClock { time.milliseconds.load(ordering: .relaxed) }
    configure(&configuration)
    self.time = time
    homeserver = try Homeserver(configuration, follower: follower, log: Log("test"))
    var unlimited = APIConfiguration()
    unlimited.rateLimits = false
    pool = try BlockingPool(threads: 1)
    router = HomeserverAPI.router(for: homeserver, api ?? unlimited, pool: pool)
  }

  /// Runs a test and lets go of everything afterwards.
  static func run(
    _ api: APIConfiguration? = nil, follower: (any RoomObserver & AccountObserver)? = nil,
    configure: (inout HomeserverConfiguration) -> Void = { $0.registration = .open },
    _ body: (APIFixture) async throws -> Void
  ) async throws {
    let fixture = try APIFixture(api, follower: follower, configure: configure)
    do {
      try await body(fixture)
      await fixture.close()
    } catch {
      await fixture.close()
      throw error
    }
  }

  private func close() async {
    await homeserver.shutdown()
    await pool.shutdown()
    Self.remove(homeserver.configuration.dataDirectory)
  }

  private static func remove(_ path: String) {
    guard unlink(path) != 0, let entries = opendir(path) else { return }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { remove(path + "/" + name) }
    }
    closedir(entries)
    rmdir(path)
  }

  func advance(milliseconds: Int64) { time.milliseconds.wrappingAdd(milliseconds, ordering: .relaxed) }

  func call(
    _ method: HTTPMethod, _ path: String, as user: User? = nil, token: String? = nil, _ body: String? = nil,
    headers: [(name: String, value: String)] = []
  ) async throws -> Answer {
    var headers = headers
    if let token = token ?? user?.token { headers.append(("Authorization", "Bearer " + token)) }
    let target = path.hasPrefix("/") ? path : "/_matrix/client/v3/" + path
    let response = await router.respond(
      to: Request(method, target, headers: headers, body: body.map { Array($0.utf8) } ?? []))
    let bytes: [UInt8] =
      switch response.body {
      case .bytes(let bytes): bytes
      case .parts(let parts): Array(parts.joined())
      default: []
      }
    AnswerRecord.shared?.add(method, target, request: body, response: response, answer: bytes)
    let json = bytes.isEmpty ? try JSON.parse(Array("null".utf8)) : try JSON.parse(bytes)
    return Answer(status: Int(response.status.code), json: json, headers: response.headers)
  }

  /// Asks for a page, as a browser does.
  func page(
    _ method: HTTPMethod, _ path: String, headers: [(name: String, value: String)] = []
  ) async throws -> PageAnswer {
    let response = await router.respond(to: Request(method, path, headers: headers))
    AnswerRecord.shared?.add(method, path, request: nil, response: response, answer: [])
    guard case .bytes(let bytes) = response.body else {
      return PageAnswer(status: Int(response.status.code), text: "", headers: response.headers)
    }
    return PageAnswer(
      status: Int(response.status.code), text: String(decoding: bytes, as: UTF8.self), headers: response.headers)
  }

  /// Watches for news of a user from now on; the answer says whether there was any after a position.
  func watch(_ user: User) -> (_ position: Int64) -> Bool {
    let watch = homeserver.notifier.watch(of: user.userID, position: homeserver.database.committedPosition)
    return { watch.hasNews(after: SyncPosition(position: $0, typing: 0)) }
  }

  /// Registers an account in both steps of `m.login.dummy`.
  func register(_ name: String, password: String = "correct horse") async throws -> User {
    let answer = try await call(
      .post, "register", #"{"username":"\#(name)","password":"\#(password)","auth":{"type":"m.login.dummy"}}"#)
    return try user(answer)
  }

  func logIn(_ name: String, password: String = "correct horse", more: String = "") async throws -> Answer {
    try await call(
      .post, "login",
      #"{"type":"m.login.password","identifier":{"type":"m.id.user","user":"\#(name)"},"password":"\#(password)"\#(more)}"#
    )
  }

  func user(_ answer: Answer) throws -> User {
    User(
      userID: try #require(UserID(answer.json["user_id"])), deviceID: try #require(DeviceID(answer.json["device_id"])),
      token: try #require(answer.json["access_token"]?.string))
  }

  /// The path of a user's own things: `user/{userId}/…`.
  static func own(_ user: User, _ rest: String) -> String { "user/\(PercentEncoding.encode(user.userID.text))/\(rest)" }

  /// An `auth` that proves the password.
  static func passwordAuth(_ name: String, _ password: String = "correct horse", session: String? = nil) -> String {
    let session = session.map { #","session":"\#($0)""# } ?? ""
    return
      #"{"type":"m.login.password","identifier":{"type":"m.id.user","user":"\#(name)"},"password":"\#(password)"\#(session)}"#
  }
}

typealias HTTPMethod = Method
