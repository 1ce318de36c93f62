import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import ServerDirectory
import Testing

@testable import HomeserverAPI

@Suite struct DiscoveryTests {
  @Test func `what is not configured is answered so`() async throws {
    try await APIFixture.run { fixture in
      let support = try await fixture.call(.get, "/.well-known/matrix/support")
      #expect(support.status == 404 && support.errorCode == "M_NOT_FOUND")
      // So that no client asks in vain.
      let versions = try await fixture.call(.get, "/_matrix/client/versions").json
      #expect(versions["unstable_features"]?["martlet.support"]?.bool == false)
      let server = try await fixture.call(.get, "/.well-known/matrix/server")
      #expect(server.status == 404 && server.errorCode == "M_NOT_FOUND")
    }
  }

  @Test(arguments: [
    (AccountConfiguration.Registration.open, "open"), (.token, "token"), (.closed, "closed")
  ]) func `login flows say how to register`(setting: AccountConfiguration.Registration, word: String) async throws {
    try await APIFixture.run(configure: { $0.registration = setting }) { fixture in
      let flows = try await fixture.call(.get, "login").json
      #expect(flows["martlet.registration"]?.string == word)
    }
  }

  /// Asked past the record of answers: the specification's schema has no server without TURN.
  @Test func `without a TURN server the answer is empty`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let response = await fixture.router.respond(
        to: Request(.get, "/_matrix/client/v3/voip/turnServer", headers: [("Authorization", "Bearer " + ann.token)], body: []))
      guard case .bytes(let bytes) = response.body else { throw MatrixError.unknown("no bytes") }
      #expect(response.status.code == 200 && bytes.elementsEqual("{}".utf8))
    }
  }

  @Test(arguments: NewRoomEncryption.allCases) func `clients learn which new rooms to encrypt`(setting: NewRoomEncryption)
    async throws
  {
    var api = APIConfiguration()
    api.newRoomEncryption = setting
    try await APIFixture.run(api) { fixture in
      let known = try await fixture.call(.get, "/.well-known/matrix/client").json
      #expect(known["io.element.e2ee"]?["default"]?.bool == (setting != .off))
      #expect(known["martlet.encryption"]?["new_rooms"]?.string == setting.rawValue)
    }
  }

  @Test func `support and delegation are answered as configured`() async throws {
    var api = APIConfiguration()
    api.support.contacts = [
      .init(role: "m.role.admin", address: "@root:example.org"), .init(role: "m.role.security", address: "sec@example.org")
    ]
    api.support.page = "https://example.org/help"
    api.delegatedServer = "matrix.example.org:443"
    try await APIFixture.run(api) { fixture in
      let support = try await fixture.call(.get, "/.well-known/matrix/support").json
      let contacts = support["contacts"]?.elements.map { $0 } ?? []
      #expect(contacts.map { $0["role"]?.string } == ["m.role.admin", "m.role.security"])
      #expect(contacts.map { $0["matrix_id"]?.string } == ["@root:example.org", nil])
      #expect(contacts.map { $0["email_address"]?.string } == [nil, "sec@example.org"])
      #expect(support["support_page"]?.string == "https://example.org/help")
      let versions = try await fixture.call(.get, "/_matrix/client/versions").json
      #expect(versions["unstable_features"]?["martlet.support"]?.bool == true)
      let server = try await fixture.call(.get, "/.well-known/matrix/server").json
      #expect(server["m.server"]?.string == "matrix.example.org:443" && server.count == 1)
    }
  }

  @Test func `credentials for the TURN server end with their lifetime`() async throws {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .open
      $0.turn = TURNServer(
        uris: ["turn:turn.example.org:3478?transport=udp"], secret: "swordfish", lifetimeSeconds: 3_600, isOpenToGuests: false)
    }
    try await APIFixture.run(configure: configure) { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.get, "voip/turnServer", as: ann).json
      #expect(answer["username"]?.string == "1700003600:@ann:example.org" && answer["ttl"]?.integer == 3_600)
      // printf '1700003600:@ann:example.org' | openssl dgst -sha1 -hmac swordfish -binary | base64
      #expect(answer["password"]?.string == "lZYnvDXgmu4ge7kngccHXNgKCVY=")
      #expect(answer["uris"]?.elements.map { $0.string } == ["turn:turn.example.org:3478?transport=udp"])
    }
  }

  @Test(arguments: [false, true]) func `guests get credentials where the operator says so`(isOpen: Bool) async throws {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .open
      $0.turn = TURNServer(uris: ["turn:turn.example.org"], secret: "swordfish", lifetimeSeconds: 60, isOpenToGuests: isOpen)
    }
    try await APIFixture.run(configure: configure) { fixture in
      let guest = try await Self.guest(fixture)
      let answer = try await fixture.call(.get, "voip/turnServer", as: guest)
      #expect(answer.errorCode == (isOpen ? nil : "M_GUEST_ACCESS_FORBIDDEN"))
      #expect(answer.json["uris"]?.count == (isOpen ? 1 : nil))
    }
  }

  private static func guest(_ fixture: APIFixture) async throws -> APIFixture.User {
    var new = NewAccount("visitor")
    new.standing.isGuest = true
    let made = try await fixture.homeserver.accounts.create(new, password: nil, device: DeviceRequest())
    let login = try #require(made.login)
    return APIFixture.User(userID: made.userID, deviceID: login.deviceID, token: login.accessToken.text.string)
  }

  // Proves M40
  @Test(
    arguments: ["/_matrix/client/unstable/org.matrix.msc4143/rtc/transports", "/_matrix/client/v1/rtc/transports"],
    [true, false])
  func `who has an account is told where calls meet, a guest is not`(path: String, servesCalls: Bool) async throws {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .open
      $0.servesCalls = servesCalls
    }
    try await APIFixture.run(configure: configure) { fixture in
      let server = fixture.homeserver.configuration.serverName
      let own = #"{"type":"martlet.call","server_name":"\#(server.string)"}"#
      let answer = try await fixture.call(.get, path, as: try await fixture.register("ann"))
      #expect(
        answer.status == 200
          && String(decoding: answer.json.bytes, as: UTF8.self) == #"{"rtc_transports":[\#(servesCalls ? own : "")]}"#)
      #expect(try await fixture.call(.get, path).errorCode == "M_MISSING_TOKEN")
      // The specification's list of what guests may do does not have it.
      let guest = try await Self.guest(fixture)
      #expect(try await fixture.call(.get, path, as: guest).errorCode == "M_GUEST_ACCESS_FORBIDDEN")
      let versions = try await fixture.call(.get, "/_matrix/client/versions")
      #expect(versions.json["unstable_features"]?["org.matrix.msc4143"]?.bool == true)
    }
  }
}

@Suite struct LegacyPathTests {
  @Test func `what was there before the API had versions is answered under r0`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try await fixture.call(.post, "/_matrix/client/r0/createRoom", as: ann, "{}")
      let roomID = try #require(room.json["room_id"]?.string)
      let sent = try await fixture.call(
        .put, "/_matrix/client/r0/rooms/\(path(roomID))/send/m.room.message/1", as: ann, #"{"body":"x","msgtype":"m.text"}"#)
      #expect(sent.json["event_id"]?.string != nil)
      #expect(try await fixture.call(.get, "/_matrix/media/r0/config", as: ann).json["m.upload.size"]?.integer != nil)
      #expect(try await fixture.call(.get, "/_matrix/client/r0/sync", as: ann).json["rooms"]?["join"]?.count == 1)
    }
  }

  @Test func `every v3 path is there under r0, but for what the specification added later`() async throws {
    try await APIFixture.run { fixture in
      let routes = fixture.router.patterns
      let later = [
        "POST /_matrix/client/v3/keys/device_signing/upload", "POST /_matrix/client/v3/keys/signatures/upload",
        "POST /_matrix/client/v3/knock/{roomIdOrAlias}", "GET /_matrix/client/v3/login/sso/redirect/{idpId}",
        "DELETE /_matrix/client/v3/profile/{userId}/{keyName}", "POST /_matrix/client/v3/refresh",
        "POST /_matrix/client/v3/rooms/{roomId}/report", "POST /_matrix/client/v3/users/{userId}/report",
        "PUT /_matrix/media/v3/upload/{serverName}/{mediaId}"
      ]
      let versioned = routes.filter { $0.contains(" /_matrix/client/v3/") || $0.contains(" /_matrix/media/v3/") }
      #expect(versioned.count > 70)
      // The pages of a sign-in are the server's own links: nobody knows them by another path.
      for route in versioned where !route.contains("/fallback/web") {
        let isLater = later.contains(route) || route.contains("/v3/room_keys/")
        #expect(routes.contains(route.replacing("/v3/", with: "/r0/")) == !isLater, "\(route)")
      }
      #expect(routes.filter { $0.contains("/r0/") }.allSatisfy { routes.contains($0.replacing("/r0/", with: "/v3/")) })
    }
  }
}
