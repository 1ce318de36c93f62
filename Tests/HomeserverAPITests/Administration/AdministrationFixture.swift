import Homeserver
import JSON
import MatrixModel
import Testing

/// A server with an administrator and two users.
struct AdministrationFixture {
  static let path = "/_synapse/admin"
  static let own = "/_matrix/client/unstable/martlet.administration"

  let fixture: APIFixture
  let admin: APIFixture.User
  let ann: APIFixture.User
  let bob: APIFixture.User

  static func run(_ body: (AdministrationFixture) async throws -> Void) async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.allowsGuests = true
    }) { fixture in
      let admin = try await fixture.register("admin")
      try await fixture.homeserver.accounts.setAdmin(admin.userID, true)
      try await body(
        AdministrationFixture(
          fixture: fixture, admin: admin, ann: try await fixture.register("ann"), bob: try await fixture.register("bob")))
    }
  }

  /// Asks as the administrator; `path` follows `/_synapse/admin`.
  func ask(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> APIFixture.Answer {
    try await fixture.call(method, path.hasPrefix("/_matrix") ? path : Self.path + path, as: admin, body)
  }

  func room(by user: APIFixture.User, _ body: String = "{}") async throws -> String {
    try #require(try await fixture.call(.post, "createRoom", as: user, body).json["room_id"]?.string)
  }

  @discardableResult
  func say(_ text: String, in room: String, by user: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(
      .put, "rooms/\(room)/send/m.room.message/\(text)", as: user, #"{"msgtype":"m.text","body":"\#(text)"}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  func join(_ room: String, by user: APIFixture.User) async throws {
    #expect(try await fixture.call(.post, "join/\(room)", as: user, "{}").status == 200)
  }

  func settle() async { await fixture.homeserver.administrationTasks.settle() }

  /// Actions of the audit log with what came of them, the oldest first.
  func audit() async throws -> [String] {
    try await fixture.homeserver.audit.list(AuditLog.Query()).reversed().map { "\($0.action) \($0.outcome ?? "-")" }
  }
}

extension JSON {
  func texts(_ key: StaticString) -> [String] { self[key]?.elements.compactMap { $0.string } ?? [] }

  /// The members of that name of the objects in a list.
  func texts(_ list: StaticString, _ member: StaticString) -> [String] {
    self[list]?.elements.compactMap { $0[member]?.string } ?? []
  }
}
