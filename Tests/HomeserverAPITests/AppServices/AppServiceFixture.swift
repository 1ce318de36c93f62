import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerPush

/// A homeserver with one application service, whose other end is a server of ours.
struct AppServiceFixture {
  static let token = "the service's token"
  static let serverToken = "the-server-s-token"

  let fixture: APIFixture
  let peer: PeerServer
  /// A person.
  let ann: APIFixture.User

  static func run(
    _ change: @Sendable @escaping (inout AppServiceRegistration) -> Void = { _ in },
    _ body: (AppServiceFixture) async throws -> Void
  ) async throws {
    try await PeerServer.run { peer in
      var registration = AppServiceRegistration(
        id: "tea", url: peer.url, serviceToken: token, serverToken: serverToken, senderLocalpart: "_tea_bot")
      registration.users = [.init(isExclusive: true, expression: "@_tea_.*:example\\.org")]
      registration.aliases = [.init(isExclusive: true, expression: "#_tea_.*:example\\.org")]
      change(&registration)
      try await APIFixture.run(configure: { [registration] in
        $0.registration = .open
        $0.appServices = [registration]
      }) { fixture in
        let service = AppServiceFixture(fixture: fixture, peer: peer, ann: try await fixture.register("ann"))
        _ = try await service.sent()
        try await body(service)
      }
    }
  }

  func call(_ method: HTTPMethod, _ path: String, as user: String? = nil, _ body: String? = nil) async throws
    -> APIFixture.Answer
  {
    let name = user.map { PercentEncoding.encode(ByteString("@\($0):example.org")) }
    let query = name.map { (path.contains("?") ? "&" : "?") + "user_id=" + $0 } ?? ""
    return try await fixture.call(method, path + query, token: Self.token, body)
  }

  func register(_ name: String) async throws -> APIFixture.Answer {
    try await call(
      .post, "register", as: nil, #"{"type":"m.login.application_service","username":"\#(name)","inhibit_login":true}"#)
  }

  /// A public room of ann's; its percent-encoded ID.
  func room(_ settings: String = "") async throws -> String {
    let created = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"\#(settings)}"#)
    return PercentEncoding.encode(ByteString(try #require(created.json["room_id"]?.string)))
  }

  @discardableResult
  func say(_ text: String, in room: String) async throws -> String {
    let answer = try await fixture.call(
      .put, "rooms/\(room)/send/m.room.message/\(RandomText.name(length: 12))", as: ann,
      #"{"msgtype":"m.text","body":"\#(text)"}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  var delivery: AppServiceDelivery {
    get throws { try #require(fixture.homeserver.appServiceWorkers.deliveries.first) }
  }

  /// Sends everything that is due; the transactions that came of it.
  func sent() async throws -> [PeerServer.Call] {
    while try await delivery.step() == .sent {}
    return peer.take().filter { $0.path.contains("/transactions/") }
  }
}

extension PeerServer.Call {
  var bodies: [String] { json["events"]?.elements.compactMap { $0["content"]?["body"]?.string } ?? [] }
  var types: [String] { json["events"]?.elements.compactMap { $0["type"]?.string } ?? [] }
  func ephemeral(_ type: String) -> [JSON] {
    json["ephemeral"]?.elements.filter { $0["type"]?.string == type } ?? []
  }
}
