import JSON
import MatrixModel
import Outbound
import OutboundTesting
import Telemetry
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerPush

/// Two users in a room, one with a pusher to an e-mail address, and a mail server.
struct MailPushFixture {
  static let base = "https://matrix.example.org"
  static let minute: Int64 = 60_000

  let fixture: APIFixture
  let server: MailServer
  let ann: APIFixture.User
  let bob: APIFixture.User
  let room: String

  static func run(
    _ change: @escaping (inout HomeserverConfiguration) -> Void = { _ in }, room settings: String = #","name":"Tea""#,
    _ body: (MailPushFixture) async throws -> Void
  ) async throws {
    try await APIFixture.runWithMail({
      // Nothing goes on in the background.
      $0.pushBadgeDelay = .seconds(3_600)
      change(&$0)
    }) { fixture, server in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await makeRoom(of: ann, with: bob, settings, fixture)
      let mails = MailPushFixture(fixture: fixture, server: server, ann: ann, bob: bob, room: room)
      try await mails.give("ann@example.com", to: ann)
      #expect(try await mails.set("ann@example.com", as: ann).status == 200)
      try await mails.sent()
      try await body(mails)
    }
  }

  /// A room with both; its percent-encoded ID.
  private static func makeRoom(
    of ann: APIFixture.User, with bob: APIFixture.User, _ settings: String, _ fixture: APIFixture
  ) async throws -> String {
    let created = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"\#(settings)}"#)
    let room = PercentEncoding.encode(ByteString(try #require(created.json["room_id"]?.string)))
    #expect(try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}").status == 200)
    return room
  }

  func makeRoom(_ settings: String) async throws -> String {
    try await Self.makeRoom(of: ann, with: bob, settings, fixture)
  }

  /// Makes an address the user's own, as if they had confirmed it.
  func give(_ address: String, to user: APIFixture.User) async throws {
    let address = try #require(MailAddress(address))
    try await fixture.homeserver.database.write { tx in
      try ThirdPartyIdentifiers.add(tx, address, of: user.userID, validated: 1, now: 1)
    }
  }

  func set(_ address: String, as user: APIFixture.User, kind: String = #""email""#, appID: String = "m.email") async throws
    -> APIFixture.Answer
  {
    try await fixture.call(
      .post, "pushers/set", as: user,
      #"""
      {"kind":\#(kind),"app_id":"\#(appID)","pushkey":"\#(address)","app_display_name":"Mail","lang":"en",
       "device_display_name":"\#(address)","data":{}}
      """#)
  }

  @discardableResult
  func say(_ text: String, as user: APIFixture.User? = nil, in room: String? = nil, more: String = "") async throws -> String {
    let answer = try await fixture.call(
      .put, "rooms/\(room ?? self.room)/send/m.room.message/\(RandomText.name(length: 12))", as: user ?? bob,
      #"{"msgtype":"m.text","body":"\#(text)"\#(more)}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  func read(_ eventID: String, in room: String? = nil) async throws {
    let id = PercentEncoding.encode(ByteString(eventID))
    let path = "rooms/\(room ?? self.room)/receipt/m.read/\(id)"
    #expect(try await fixture.call(.post, path, as: ann, "{}").status == 200)
  }

  /// Everything that is due is sent, `milliseconds` from now; the mails that came of it.
  @discardableResult
  func sent(after milliseconds: Int64 = 0) async throws -> [String] {
    let known = server.mails.count
    // What was said comes into the queue as of now.
    try await fixture.homeserver.push.catchUp()
    fixture.advance(milliseconds: milliseconds)
    try await fixture.homeserver.push.catchUp()
    return Array(server.mails.dropFirst(known))
  }

  /// Rows of the tables of mails.
  func rows() async throws -> (waiting: Int64, rooms: Int64) {
    try await fixture.homeserver.database.read { tx in
      (
        try tx.first("SELECT COUNT(*) FROM mail_queue") { $0.integer(0) } ?? 0,
        try tx.first("SELECT COUNT(*) FROM mail_room") { $0.integer(0) } ?? 0
      )
    }
  }

  /// The path and query of the way out in a mail's header.
  static func wayOut(of mail: String) throws -> String {
    let start = try #require(mail.firstRange(of: "List-Unsubscribe:\r\n <\(base)")).upperBound
    return String(mail[start...].prefix { $0 != ">" })
  }

  static func header(_ name: String, of mail: String) -> String? {
    mail.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
  }

  /// A mail's parts by their type.
  static func part(_ type: String, of mail: String) throws -> String {
    let start = try #require(mail.firstRange(of: "Content-Type: \(type)")).upperBound
    let rest = mail[start...]
    let body = try #require(rest.firstRange(of: "\r\n\r\n")).upperBound
    let end = rest[body...].firstRange(of: "\r\n--=_")?.lowerBound ?? rest.endIndex
    return String(rest[body..<end])
  }
}
