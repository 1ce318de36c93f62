import JSON
import MatrixModel
import Testing

@testable import ServerQueries

/// What each query asks, and how it reads the answer.
@Suite struct QueryChapterTests {
  static let room = RoomID(trusted: "!r:test")
  static let user = UserID(trusted: "@me:test")
  static let event = EventID(trusted: "$e")

  private static func message(_ body: String) -> String {
    #"{"type":"m.room.message","event_id":"$1","sender":"@alice:test","origin_server_ts":1,"content":{"msgtype":"m.text","body":"\#(body)"}}"#
  }

  static func read<Answer>(_ query: Query<Answer>, _ json: String) throws -> Answer {
    try query.answer(.answer(try JSON.parse(Array(json.utf8))))
  }

  struct Request: Sendable, CustomTestStringConvertible {
    let request: QueryRequest
    let method: Endpoint.Method
    let target: String
    let body: String?
    var testDescription: String { target }

    init<Answer>(_ query: Query<Answer>, _ method: Endpoint.Method, _ target: String, _ body: String? = nil) {
      request = query.request
      self.method = method
      self.target = target
      self.body = body
    }
  }

  static let requests: [Request] = [
    Request(.versions(), .get, "/_matrix/client/versions"),
    Request(.renameDevice(DeviceID(trusted: "A/B"), "N"), .put, "/_matrix/client/v3/devices/A%2FB", #"{"display_name":"N"}"#),
    Request(.deleteDevice(DeviceID(trusted: "D")), .delete, "/_matrix/client/v3/devices/D", "{}"),
    Request(
      .changePassword("p", logsOutOthers: false), .post, "/_matrix/client/v3/account/password",
      #"{"new_password":"p","logout_devices":false}"#),
    Request(.deactivateAccount(erases: true), .post, "/_matrix/client/v3/account/deactivate", #"{"erase":true}"#),
    Request(
      .requestPasswordReset(email: "a@b", clientSecret: "c", attempt: 2), .post,
      "/_matrix/client/v3/account/password/email/requestToken",
      #"{"email":"a@b","client_secret":"c","send_attempt":2}"#),
    Request(
      .requestNewAddress("a@b", clientSecret: "c"), .post, "/_matrix/client/v3/account/3pid/email/requestToken",
      #"{"email":"a@b","client_secret":"c","send_attempt":1}"#),
    Request(
      .addThirdPartyID(ValidatedAddress(sessionID: "7", clientSecret: "c")), .post, "/_matrix/client/v3/account/3pid/add",
      #"{"sid":"7","client_secret":"c"}"#),
    Request(.isUsernameAvailable("a b"), .get, "/_matrix/client/v3/register/available?username=a%20b"),
    Request(.openIDToken(of: user), .post, "/_matrix/client/v3/user/%40me%3Atest/openid/request_token"),
    Request(.loginToken(), .post, "/_matrix/client/v1/login/get_token"),
    Request(
      .publicRooms(on: ServerName(trusted: "o.org"), limit: 5, since: "x y"), .get,
      "/_matrix/client/v3/publicRooms?server=o.org&limit=5&since=x%20y"),
    Request(
      .publicRooms(matching: "tea", types: [nil, "m.space"], on: ServerName(trusted: "o.org"), limit: 5), .post,
      "/_matrix/client/v3/publicRooms?server=o.org",
      #"{"limit":5,"filter":{"generic_search_term":"tea","room_types":[null,"m.space"]}}"#),
    Request(
      .roomSummary("#tea:test", via: [ServerName(trusted: "a"), ServerName(trusted: "b")]), .get,
      "/_matrix/client/v1/room_summary/%23tea%3Atest?via=a&via=b"),
    Request(
      .hierarchy(of: room, suggestedOnly: true, maxDepth: 2, limit: 9, from: "t"), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/hierarchy?suggested_only=true&max_depth=2&limit=9&from=t"),
    Request(
      .createAlias(RoomAlias(trusted: "#a:test"), of: room), .put, "/_matrix/client/v3/directory/room/%23a%3Atest",
      #"{"room_id":"!r:test"}"#),
    Request(.deleteAlias(RoomAlias(trusted: "#a:test")), .delete, "/_matrix/client/v3/directory/room/%23a%3Atest"),
    Request(
      .setPublished(room, true), .put, "/_matrix/client/v3/directory/list/room/%21r%3Atest", #"{"visibility":"public"}"#),
    Request(
      .setProfileField("m.tz", Array(#""Europe/Paris""#.utf8), of: user), .put,
      "/_matrix/client/v3/profile/%40me%3Atest/m.tz", #"{"m.tz":"Europe/Paris"}"#),
    Request(.deleteProfileField("m.tz", of: user), .delete, "/_matrix/client/v3/profile/%40me%3Atest/m.tz"),
    Request(
      .searchUsers("al", limit: 3), .post, "/_matrix/client/v3/user_directory/search",
      #"{"search_term":"al","limit":3}"#),
    Request(
      .setPresence(.unavailable, message: "tea", of: user), .put, "/_matrix/client/v3/presence/%40me%3Atest/status",
      #"{"presence":"unavailable","status_msg":"tea"}"#),
    Request(
      .report(event, in: room, reason: "r"), .post, "/_matrix/client/v3/rooms/%21r%3Atest/report/%24e",
      #"{"reason":"r"}"#),
    Request(.report(room, reason: "r"), .post, "/_matrix/client/v3/rooms/%21r%3Atest/report", #"{"reason":"r"}"#),
    Request(.report(user, reason: "r"), .post, "/_matrix/client/v3/users/%40me%3Atest/report", #"{"reason":"r"}"#),
    Request(
      .thirdPartyUsers("irc", fields: [("nick", "a&b")]), .get, "/_matrix/client/v3/thirdparty/user/irc?nick=a%26b"),
    Request(
      .thirdPartyLocations(of: RoomAlias(trusted: "#a:test")), .get,
      "/_matrix/client/v3/thirdparty/location?alias=%23a%3Atest"),
    Request(.preview(of: "https://x/?y", at: 5), .get, "/_matrix/client/v1/media/preview_url?url=https%3A%2F%2Fx%2F%3Fy&ts=5"),
    Request(.reserveMedia(), .post, "/_matrix/media/v1/create"),
    Request(.notifications(highlightsOnly: true, limit: 2), .get, "/_matrix/client/v3/notifications?only=highlight&limit=2"),
    Request(.event(event, in: room), .get, "/_matrix/client/v3/rooms/%21r%3Atest/event/%24e"),
    Request(.context(of: event, in: room, limit: 4), .get, "/_matrix/client/v3/rooms/%21r%3Atest/context/%24e?limit=4"),
    Request(
      .relations(of: event, in: room, recurses: true), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/relations/%24e?dir=b&recurse=true"),
    Request(
      .relations(of: event, in: room, relation: "m.thread", direction: .forwards, limit: 3, from: "t"), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/relations/%24e/m.thread?dir=f&limit=3&from=t"),
    Request(
      .relations(of: event, in: room, relation: "m.annotation", type: .reaction), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/relations/%24e/m.annotation/m.reaction?dir=b"),
    Request(
      .threads(in: room, participatedOnly: true), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/threads?include=participated"),
    Request(
      .event(at: 1_700, in: room, direction: .forwards), .get,
      "/_matrix/client/v1/rooms/%21r%3Atest/timestamp_to_event?ts=1700&dir=f"),
    Request(
      .state(of: room, type: .name), .get, "/_matrix/client/v3/rooms/%21r%3Atest/state/m.room.name/"),
    Request(
      .setAccountData("a.b", Array(#"{"x":1}"#.utf8), of: user, in: room), .put,
      "/_matrix/client/v3/user/%40me%3Atest/rooms/%21r%3Atest/account_data/a.b", #"{"x":1}"#),
    Request(
      .createFilter(Array(#"{"room":{}}"#.utf8), of: user), .post, "/_matrix/client/v3/user/%40me%3Atest/filter",
      #"{"room":{}}"#)
  ]

  @Test(arguments: requests) func `each query asks what the spec says`(_ expected: Request) {
    #expect(expected.request.endpoint.method == expected.method)
    #expect(expected.request.target == expected.target)
    #expect(expected.request.wholeBody.map { String(decoding: $0, as: UTF8.self) } == expected.body)
  }

  // MARK: Server

  @Test func `versions: what is not listed is off`() throws {
    let versions = try Self.read(
      .versions(), #"{"versions":["r0.5.0","v1.2"],"unstable_features":{"a":true,"b":false}}"#)
    #expect(versions.supports(major: 1, minor: 2))
    #expect(versions.supports(major: 1, minor: 1))
    #expect(!versions.supports(major: 1, minor: 3))
    #expect(!versions.supports(major: 2, minor: 0))
    #expect(versions.has("a"))
    #expect(!versions.has("b"))
    #expect(!versions.has("c"))
    #expect(try Self.read(.versions(), #"{"versions":[]}"#).versions.isEmpty)
    #expect(throws: ClientError.self) { try Self.read(.versions(), "{}") }
  }

  @Test(arguments: [
    (#"["r0.4.0"]"#, false), (#"["r0.5.0"]"#, true), (#"["r0.6.1"]"#, true), (#"["v1.1"]"#, true), ("[]", false),
    (#"["x","v","v1","v1.x","v99999999.1","r0."]"#, false)
  ]) func `lazy loading is known by the version`(versions: String, isThere: Bool) throws {
    #expect(try Self.read(.versions(), #"{"versions":\#(versions)}"#).supportsLazyLoading == isThere)
  }

  @Test func `capabilities have the spec's defaults`() throws {
    let none = try Self.read(.capabilities(), #"{"capabilities":{}}"#)
    #expect(none.canChangePassword && none.canChangeDisplayName && none.canChangeAvatar && none.canChangeThirdPartyIDs)
    #expect(!none.canGetLoginToken && !none.forgetsRoomsUponLeave)
    #expect(none.defaultRoomVersion == "1" as ByteString)
    #expect(none.canChangeProfileField("m.tz"))
    let some = try Self.read(
      .capabilities(),
      #"{"capabilities":{"m.change_password":{"enabled":false},"m.get_login_token":{"enabled":true},"m.room_versions":{"default":"11","available":{"11":"stable","x":"unstable"}},"m.profile_fields":{"enabled":true,"disallowed":["displayname"]},"org.x":{"y":1}}}"#
    )
    #expect(!some.canChangePassword && some.canGetLoginToken && !some.canChangeDisplayName && some.canChangeAvatar)
    #expect(some.defaultRoomVersion == "11" as ByteString)
    #expect(some.roomVersions.map { $0.isStable } == [true, false])
    #expect(some.all["org.x"]?["y"]?.integer == 1)
    let few = try Self.read(
      .capabilities(), #"{"capabilities":{"m.profile_fields":{"enabled":true,"allowed":["m.tz"]}}}"#)
    #expect(few.canChangeProfileField("m.tz") && !few.canChangeProfileField("x") && !few.canChangeAvatar)
    let off = try Self.read(.capabilities(), #"{"capabilities":{"m.profile_fields":{"enabled":false}}}"#)
    #expect(!off.canChangeProfileField("m.tz"))
  }

  @Test func `login flows`() throws {
    let flows = try Self.read(
      .loginFlows(),
      #"{"flows":[{"type":"m.login.sso","identity_providers":[{"id":"g","name":"Git","icon":"mxc://t/i","brand":"github"},{"id":"n"}]},{"type":"m.login.token","get_login_token":true},{"type":"org.matrix.login.jwt"}]}"#
    )
    #expect(flows.allowsSingleSignOn && flows.allowsToken && flows.allowsJWT && !flows.allowsPassword)
    #expect(flows.allowsLoginTokens)
    #expect(flows.identityProviders.map { $0.name } == ["Git"])
    #expect(flows.registration == nil)
    let told = try Self.read(.loginFlows(), #"{"flows":[],"martlet.registration":"token"}"#)
    #expect(told.registration == .token)
  }

  @Test func `support contacts have administrators first and only addresses that are safe to open`() throws {
    let found = try Self.read(
      .support(),
      #"{"contacts":[{"role":"m.role.security","email_address":"sec@b.example"},{"role":"m.role.admin","matrix_id":"@ann:b.example","email_address":"a@b?subject=x"},{"role":"m.role.admin"},{"role":"m.role.admin","email_address":"a b@c"}],"support_page":"javascript:alert(1)"}"#
    )
    #expect(found.contacts.map { $0.userID?.string } == ["@ann:b.example", nil])
    #expect(found.contacts.map { $0.email?.string } == [nil, "sec@b.example"])
    #expect(found.page == nil)
    let page = try Self.read(.support(), #"{"support_page":"https://b.example/help"}"#)
    #expect(page.page == "https://b.example/help" && page.contacts.isEmpty)
  }

  @Test(arguments: [
    ("{}", true, false, false),
    (#"{"io.element.e2ee":{"default":false},"martlet.encryption":{"new_rooms":"all"}}"#, false, false, false),
    (#"{"io.element.e2ee":{"default":true},"martlet.encryption":{"new_rooms":"all"}}"#, true, true, false),
    (#"{"io.element.e2ee":{"force_disable":true},"martlet.encryption":{"new_rooms":"all"}}"#, false, false, true),
    (#"{"io.element.e2ee":7,"martlet.encryption":[]}"#, true, false, false)
  ]) func `a server says which new rooms it wants to be encrypted`(
    json: String, isPrivate: Bool, isPublic: Bool, isForbidden: Bool
  ) throws {
    let wishes = try Self.read(.encryptionWishes(), json)
    #expect(wishes.privateRooms == isPrivate && wishes.publicRooms == isPublic && wishes.forbidsEncryption == isForbidden)
  }

  @Test func `whoami names the user, the device and whether it is a guest`() throws {
    let owner = try Self.read(.whoAmI(), #"{"user_id":"@me:test","device_id":"D"}"#)
    #expect(owner == TokenOwner(userID: Self.user, deviceID: DeviceID(trusted: "D"), isGuest: false))
  }

  @Test func `addresses and tokens of the account`() throws {
    let ids = try Self.read(
      .thirdPartyIDs(),
      #"{"threepids":[{"medium":"email","address":"a@b","validated_at":1,"added_at":2},{"medium":"msisdn","address":"49"},{"medium":"x","address":"y"},{}]}"#
    )
    #expect(ids.map { $0.medium } == [.email, .phone, .other("x")])
    let token = try Self.read(
      .openIDToken(of: Self.user),
      #"{"access_token":"T","token_type":"Bearer","matrix_server_name":"test","expires_in":3600}"#)
    #expect(token.lifetimeSeconds == 3600)
    #expect(try Self.read(.loginToken(), #"{"login_token":"L","expires_in_ms":5}"#).token == "L" as ByteString)
    #expect(
      try Self.read(.requestPasswordReset(email: "a@b", clientSecret: "c"), #"{"sid":"S"}"#) == "S" as ByteString)
  }

  // MARK: Directory

  @Test func `a page of rooms leaves out invalid entries`() throws {
    let page = try Self.read(
      .publicRooms(),
      ##"{"chunk":[{"room_id":"!a:t","num_joined_members":3,"world_readable":true,"guest_can_join":false,"name":"Tea","canonical_alias":"#t:t","avatar_url":"mxc://t/x","room_type":"m.space"},{"name":"x"},{"room_id":"!b:t","join_rule":"odd","num_joined_members":-1}],"next_batch":"n","total_room_count_estimate":7}"##
    )
    #expect(page.rooms.map { $0.id.string } == ["!a:t", "!b:t"])
    #expect(page.rooms[0].isSpace && page.rooms[0].memberCount == 3 && page.rooms[0].joinRule == .public)
    #expect(page.rooms[1].joinRule == nil && page.rooms[1].memberCount == 0)
    #expect(page.nextBatch == "n" as ByteString)
    #expect(page.totalCountEstimate == 7)
  }

  @Test func `a space's page has the children of each room`() throws {
    let page = try Self.read(
      .hierarchy(of: Self.room),
      #"{"rooms":[{"room_id":"!s:t","room_type":"m.space","children_state":[{"type":"m.space.child","state_key":"!a:t","content":{"via":["t"],"suggested":true,"order":"1"},"origin_server_ts":4},{"state_key":"!gone:t","content":{}}]}]}"#
    )
    #expect(page.entries[0].children.map { $0.roomID.string } == ["!a:t"])
    #expect(page.entries[0].children[0].isSuggested)
    #expect(page.nextBatch == nil)
  }

  @Test func `aliases and publishing`() throws {
    let alias = RoomAlias(trusted: "#a:test")
    let resolved = try Self.read(.resolve(alias), #"{"room_id":"!r:test","servers":["a.org","b c"]}"#)
    #expect(resolved == ResolvedAlias(roomID: Self.room, servers: [ServerName(trusted: "a.org")]))
    #expect(try Self.read(.localAliases(of: Self.room), ##"{"aliases":["#a:test",7]}"##) == [alias])
    #expect(try Self.read(.isPublished(Self.room), #"{"visibility":"public"}"#))
    #expect(try !Self.read(.isPublished(Self.room), #"{"visibility":"private"}"#))
  }

  // MARK: People

  @Test func `profiles keep fields that nobody knows`() throws {
    let profile = try Self.read(
      .profile(of: Self.user), #"{"displayname":"Me","avatar_url":"mxc://t/a","m.tz":"Europe/Paris","x.y":{"z":1}}"#)
    #expect(profile.displayName == "Me" as ByteString)
    #expect(profile.timeZone == "Europe/Paris" as ByteString)
    #expect(profile.fields["x.y"]?["z"]?.integer == 1)
    #expect(try Self.read(.profileField("x.y", of: Self.user), #"{"x.y":[1]}"#).count == 1)
  }

  @Test(arguments: [true, false]) func `a search for people says whether there are more`(isLimited: Bool) throws {
    let found = try Self.read(
      .searchUsers("a"),
      #"{"results":[{"user_id":"@a:t","display_name":"A"},{"user_id":"nobody"}],"limited":\#(isLimited)}"#)
    #expect(found.users.map { $0.id.string } == ["@a:t"])
    #expect(found.isLimited == isLimited)
  }

  @Test func `presence`() throws {
    let status = try Self.read(
      .presence(of: Self.user),
      #"{"presence":"unavailable","last_active_ago":420845,"status_msg":null,"currently_active":false}"#)
    #expect(status.presence == .unavailable)
    #expect(status.lastActiveAgoMilliseconds == 420_845)
    #expect(status.message == nil)
    #expect(throws: ClientError.self) { try Self.read(.presence(of: Self.user), #"{"presence":"asleep"}"#) }
  }

  @Test func `third-party networks`() throws {
    let protocols = try Self.read(
      .thirdPartyProtocols(),
      #"{"irc":{"user_fields":["network","nick"],"location_fields":["network"],"icon":"mxc://t/i","field_types":{"nick":{"regexp":".","placeholder":"n"}},"instances":[{"network_id":"freenode","desc":"Freenode","fields":{"network":"f"}},{}]}}"#
    )
    #expect(protocols[0].id == "irc" as ByteString)
    #expect(protocols[0].userFields == ["network", "nick"])
    #expect(protocols[0].instances.map { $0.networkID } == ["freenode"])
    let users = try Self.read(
      .thirdPartyUsers("irc"), #"[{"userid":"@_irc:t","protocol":"irc","fields":{"user":"n"}},{}]"#)
    #expect(users.map { $0.userID.string } == ["@_irc:t"])
    #expect(throws: ClientError.self) { try Self.read(.thirdPartyUsers("irc"), "{}") }
    let places = try Self.read(.thirdPartyLocations("irc"), ##"[{"alias":"#x:t","protocol":"irc","fields":{}}]"##)
    #expect(places.count == 1)
  }

  // MARK: Notifications

  @Test func `a pusher survives the way to the server and back`() throws {
    let pusher = Pusher(
      key: "k", appID: "org.example.app.prod",
      kind: .http(url: "https://example.com/_matrix/push/v1/notify", sendsEventIDOnly: true),
      appDisplayName: "App", deviceDisplayName: "Phone", profileTag: "xyz", language: "de",
      extraData: Array(#"{"brand":"x","url":"ignored"}"#.utf8))
    let body = String(decoding: try #require(Query<Void>.setPusher(pusher).request.body), as: UTF8.self)
    #expect(
      try JSON.parse(Array(body.utf8)).canonical()
        == JSON.parse(
          Array(
            #"{"pushkey":"k","kind":"http","app_id":"org.example.app.prod","app_display_name":"App","device_display_name":"Phone","profile_tag":"xyz","lang":"de","data":{"url":"https://example.com/_matrix/push/v1/notify","format":"event_id_only","brand":"x"},"append":false}"#
              .utf8)
        ).canonical())
    let back = try #require(try Self.read(.pushers(), #"{"pushers":[\#(body)]}"#).first)
    #expect(back.kind == pusher.kind)
    #expect(back.profileTag == pusher.profileTag)
    #expect(back.appID == pusher.appID)
    let deletion = String(decoding: try #require(Query<Void>.deletePusher(key: "k", appID: "a").request.body), as: UTF8.self)
    #expect(deletion == #"{"pushkey":"k","app_id":"a","kind":null}"#)
  }

  @Test func `a browser is a pusher by its subscription, and whether it was activated is known`() throws {
    let pusher = Pusher(
      key: "BKey", appID: "org.example.web",
      kind: .webPush(url: "https://push.example.org/1", secret: "BTBZMqHH6r4Tts7J_aSIgg", sendsEventIDOnly: false),
      appDisplayName: "App", deviceDisplayName: "Browser", extraData: Array(#"{"events_only":true,"auth":"another"}"#.utf8))
    let body = try JSON.parse(try #require(Query<Void>.setPusher(pusher).request.body))
    #expect(body["kind"]?.string == "webpush" && body["pushkey"]?.string == "BKey")
    let data = #"{"url":"https://push.example.org/1","auth":"BTBZMqHH6r4Tts7J_aSIgg","events_only":true}"#
    #expect(try body["data"]?.canonical() == JSON.parse(Array(data.utf8)).canonical())
    let listed = #"{"pushers":[{"pushkey":"BKey","app_id":"a","kind":"webpush","activated":true,"data":\#(data)}]}"#
    let back = try #require(try Self.read(.pushers(), listed).first)
    #expect(back.kind == pusher.kind && back.isActivated == true)
    let query = Query<Void>.activatePusher(appID: "a", token: "t")
    #expect(query.request.target == "/_matrix/client/unstable/org.matrix.msc4174/pushers/ack")
    #expect(String(decoding: try #require(query.request.body), as: UTF8.self) == #"{"app_id":"a","ack_token":"t"}"#)
  }

  @Test(
    arguments: [
      (#"{"m.webpush":{"enabled":true,"vapid":"BKey"}}"#, "BKey"),
      (#"{"org.matrix.msc4174.webpush":{"enabled":true,"vapid":"BKey"}}"#, "BKey"),
      (#"{"m.webpush":{"enabled":false,"vapid":"BKey"}}"#, nil), (#"{"m.webpush":{"vapid":"BKey"}}"#, nil),
      (#"{"m.webpush":{"enabled":true,"vapid":7}}"#, nil), ("{}", nil)
    ] as [(String, ByteString?)])
  func `a server says whether it pushes to browsers`(_ capabilities: String, _ key: ByteString?) throws {
    #expect(try Self.read(.webPushKey, #"{"capabilities":\#(capabilities)}"#) == key)
  }

  @Test func `notifications`() throws {
    let page = try Self.read(
      .notifications(),
      #"{"next_token":"n","notifications":[{"actions":["notify",{"set_tweak":"highlight"}],"event":{"type":"m.room.message","content":{},"event_id":"$e","sender":"@a:t"},"read":true,"room_id":"!r:test","ts":5},{"actions":["notify",{"set_tweak":"highlight","value":false}],"event":{"type":"m.x","content":{}},"room_id":"!r:test"},{"event":{}}]}"#
    )
    #expect(page.entries.map { $0.isHighlight } == [true, false])
    #expect(page.entries.map { $0.isRead } == [true, false])
    #expect(page.nextBatch == "n" as ByteString)
  }

  // MARK: Media

  @Test func `what the content repository says`() throws {
    #expect(try Self.read(.uploadLimit(), #"{"m.upload.size":50}"#) == 50)
    #expect(try Self.read(.uploadLimit(), "{}") == nil)
    let reserved = try Self.read(.reserveMedia(), #"{"content_uri":"mxc://t/a","unused_expires_at":9}"#)
    #expect(reserved.uri.string == "mxc://t/a" && reserved.expiresAtMilliseconds == 9)
    let preview = try Self.read(
      .preview(of: "u"), #"{"og:title":"T","og:image":"mxc://t/i","og:image:width":48,"matrix:image:size":100}"#)
    #expect(preview.title == "T" as ByteString && preview.imageWidth == 48 && preview.imageBytes == 100)
  }

  // MARK: Events

  @Test func `an event and its neighbours`() throws {
    let message = Self.message("x")
    let context = try Self.read(
      .context(of: Self.event, in: Self.room),
      #"{"event":\#(message),"events_before":[\#(message)],"events_after":[\#(message),{}],"state":[],"start":"s","end":"e"}"#)
    #expect(context.before.count == 1 && context.after.count == 1)
    #expect(context.start == "s" as ByteString && context.end == "e" as ByteString)
    let page = try Self.read(
      .relations(of: Self.event, in: Self.room), #"{"chunk":[\#(message),7],"next_batch":"n"}"#)
    #expect(page.events.count == 1 && page.nextBatch == "n" as ByteString)
    let history = try Self.read(.messages(in: Self.room), #"{"chunk":[],"start":"a","end":"b"}"#)
    #expect(history.nextBatch == "b" as ByteString)
    let filter = HistoryFilter(types: [.message], senders: [Self.user], containsURL: true)
    let target = Query<EventPage>.messages(in: Self.room, from: "b", limit: 7, filter: filter).request.target
    let json = #"{"types":["m.room.message"],"senders":["@me:test"],"contains_url":true}"#
    #expect(target.hasSuffix("/messages?dir=b&from=b&limit=7&filter=" + PercentEncoding.encode(ByteString(json))))
    let found = try Self.read(
      .event(at: 5, in: Self.room, direction: .backwards), #"{"event_id":"$e","origin_server_ts":4}"#)
    #expect(found == EventAtTime(id: Self.event, timestampMilliseconds: 4))
  }

  @Test func `a search in groups`() throws {
    var search = MessageSearch("tea")
    search.keys = [.body, .name]
    search.rooms = [Self.room]
    search.senders = [Self.user]
    search.containsURL = false
    search.order = .rank
    search.groupings = [.room]
    search.contextBefore = 1
    search.limit = 10
    #expect(
      String(decoding: search.body, as: UTF8.self)
        == #"{"search_categories":{"room_events":{"search_term":"tea","keys":["content.body","content.name"],"order_by":"rank","filter":{"limit":10,"rooms":["!r:test"],"senders":["@me:test"],"contains_url":false},"event_context":{"before_limit":1,"after_limit":0},"groupings":{"group_by":[{"key":"room_id"}]}}}}"#
    )
    let message = Self.message("tea")
    let page = try Self.read(
      .search(search),
      #"{"search_categories":{"room_events":{"count":1224,"highlights":["tea"],"results":[{"rank":0.004,"result":\#(message),"context":{"events_before":[\#(message)]}}],"groups":{"room_id":{"!b:t":{"order":2,"results":["$2"]},"!a:t":{"order":1,"results":["$1"],"next_batch":"g"}}},"next_batch":"n"}}}"#
    )
    #expect(page.results.count == 1 && page.results[0].before.count == 1)
    #expect(page.countEstimate == 1224)
    #expect(page.roomGroups.map { $0.key } == ["!a:t", "!b:t"])
    #expect(page.roomGroups[0].nextBatch == "g" as ByteString && page.nextBatch == "n" as ByteString)
  }

  @Test func `rooms and what the account keeps`() throws {
    #expect(try Self.read(.state(of: Self.room), "[\(Self.message("x"))]").count == 1)
    #expect(
      try Self.read(.joinedMembers(of: Self.room), #"{"joined":{"@a:t":{"display_name":"A"},"nobody":{}}}"#).map {
        $0.displayName
      } == ["A"])
    #expect(try Self.read(.joinedRooms(), #"{"joined_rooms":["!a:t"]}"#).count == 1)
    #expect(try Self.read(.tags(of: Self.room, for: Self.user), #"{"tags":{"m.favourite":{"order":0.5}}}"#).count == 1)
    #expect(try Self.read(.createFilter([], of: Self.user), #"{"filter_id":"f"}"#) == "f" as ByteString)
  }
}
