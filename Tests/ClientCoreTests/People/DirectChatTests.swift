import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct DirectChatTests {
  static let carol = UserID(trusted: "@carol:test")
  static let chat = RoomID(trusted: "!dm:test")
  static let offers = #"{"capabilities":{"martlet.direct":{"enabled":true}}}"#

  @Test func `where the server knows the one room of two users it is asked for it`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.answer("/capabilities", Self.offers)
    #expect(host.body("/martlet.direct")?["user_id"]?.string == "@carol:test")
    host.answer("/martlet.direct", #"{"room_id":"!dm:test","created":true}"#)
    #expect(host.result() == "!dm:test")
    #expect(host.request("/account_data/m.direct") == nil)
    #expect(host.client.offeredExtensions == [.direct])
  }

  @Test func `a chat that no sync has brought yet is found, and made once however often it is asked for`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 10)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 11)
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    #expect(host.waiting.filter { $0.request.target.contains("/createRoom") }.count == 1)
    host.answer("/createRoom", #"{"room_id":"!dm:test"}"#)
    #expect(host.result(10) == "!dm:test")
    #expect(host.result(11) == "!dm:test")
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 12)
    #expect(host.result(12) == "!dm:test")
    #expect(host.request("/createRoom") == nil)
  }

  @Test func `a second request for a direct chat succeeds after the first was cancelled`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 10)
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 11)
    host.handle(.cancel(10))
    #expect(host.result(10) == "cancelled")
    host.answer("/createRoom", #"{"room_id":"!dm:test"}"#)
    #expect(host.result(11) == "!dm:test")
  }

  @Test func `who asked for a direct chat that could not be made may ask again`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 11)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 12)
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    host.answer("/createRoom", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result(11).contains("M_FORBIDDEN") && host.result(12).contains("M_FORBIDDEN"))
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 13)
    #expect(host.request("/createRoom") != nil)
  }

  @Test func `without an answer about what the server offers it fails, and is asked again`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.respond("/capabilities", .networkError)
    #expect(host.result() == "network")
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.answer("/capabilities", status: 404, #"{"errcode":"M_UNRECOGNIZED","error":""}"#)
    #expect(host.request("/createRoom") != nil)
  }

  @Test func `a command that waits for what the server offers ends with its cancellation and with the session`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 10)
    host.command(.reading(.markRead(.test)), id: 11)
    host.handle(.cancel(10))
    #expect(host.result(10) == "cancelled")
    #expect(host.result(11) == "nothing")
    host.command(.session(.logOut), id: 12)
    #expect(host.result(11) == "notSignedIn")
  }

  static let carolsKeys = #"{"device_keys":{"@carol:test":{"PHONE":{}}},"failures":{}}"#

  /// A client that encrypts, amid making a chat with Carol.
  private static func encrypting(_ wellKnown: String, offers: String = offers) -> Host {
    var host = Host.inRoom()
    host.client.encryptsNewChats = true
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.answer("/capabilities", offers)
    host.answer("/.well-known/matrix/client", wellKnown)
    return host
  }

  @Test func `a new chat is encrypted if the server wishes it and the other user has a device with keys`() {
    for offers in [Self.offers, #"{"capabilities":{}}"#] {
      var host = Self.encrypting(#"{"io.element.e2ee":{"default":true}}"#, offers: offers)
      #expect(host.body("/keys/query")?["device_keys"]?["@carol:test"]?.isArray == true)
      host.answer("/keys/query", Self.carolsKeys)
      let body = host.body("/martlet.direct") ?? host.body("/createRoom")
      #expect(body?["initial_state"]?.elements.map { $0["type"]?.string } == ["m.room.encryption"])
    }
  }

  @Test(arguments: [
    #"{"device_keys":{"@carol:test":{}}}"#, #"{"device_keys":{}}"#, #"{"device_keys":{"@carol:test":[]}}"#, "{}"
  ])
  func `a new chat is not encrypted if the other user has no device with keys`(keys: String) {
    var host = Self.encrypting("{}")
    host.answer("/keys/query", keys)
    #expect(host.body("/martlet.direct") != nil)
    #expect(host.body("/martlet.direct")?["initial_state"] == nil)
  }

  @Test(arguments: [#"{"io.element.e2ee":{"default":false}}"#, #"{"io.element.e2ee":{"force_disable":true}}"#])
  func `a new chat is not encrypted if the server does not wish it`(wellKnown: String) {
    let host = Self.encrypting(wellKnown)
    #expect(host.request("/keys/query") == nil)
    #expect(host.body("/martlet.direct")?["initial_state"] == nil)
  }

  @Test
  func `a server that announces nothing is asked once, and a chat whose keys cannot be asked for is not made in clear text`() {
    var host = Host.inRoom()
    host.client.encryptsNewChats = true
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.answer("/capabilities", Self.offers)
    host.answer("/.well-known/matrix/client", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    host.respond("/keys/query", .networkError)
    #expect(host.result() == "network")
    #expect(host.request("/martlet.direct") == nil)
    host.command(.rooms(.openDirectChat(with: "@carol:test")), id: 11)
    #expect(host.request("/.well-known") == nil)
    host.answer("/keys/query", Self.carolsKeys)
    host.answer("/martlet.direct", #"{"room_id":"!dm:test","created":true}"#)
    #expect(host.result(11) == "!dm:test")
  }

  @Test func `the chat that a link of a person makes is encrypted likewise, and a room is joined as it is`() {
    func joining(_ described: String) -> Host {
      var host = Host.inRoom()
      host.client.encryptsNewChats = true
      host.command(.rooms(.joinByLink("sesame")))
      #expect(host.request("invite_links/join") == nil)
      host.answer("invite_links/describe", described)
      return host
    }
    var host = joining(#"{"inviter":{"user_id":"@carol:test"},"registration":false}"#)
    host.answer("/.well-known/matrix/client", "<!doctype html>")
    host.answer("/keys/query", Self.carolsKeys)
    #expect(host.body("invite_links/join")?["token"]?.string == "sesame")
    #expect(
      host.body("invite_links/join")?["initial_state"]?.elements.map { $0["type"]?.string } == ["m.room.encryption"])
    host.answer("invite_links/join", #"{"room_id":"!dm:test"}"#)
    #expect(host.result() == "!dm:test")
    let room = joining(#"{"inviter":{"user_id":"@carol:test"},"room":{"name":"Garden"},"registration":false}"#)
    #expect(room.body("invite_links/join")?["initial_state"] == nil)
    var unknown = joining("{}")
    unknown.answer("invite_links/join", status: 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    #expect(unknown.result().contains("M_NOT_FOUND"))
  }

  @Test(arguments: [
    (#"{"io.element.e2ee":{"default":true}}"#, true, false), (#"{"martlet.encryption":{"new_rooms":"all"}}"#, true, true),
    (#"{"io.element.e2ee":{"force_disable":true}}"#, false, false)
  ]) func `a new room for which nobody has decided is encrypted as the server wishes`(
    wellKnown: String, isPrivate: Bool, isPublic: Bool
  ) {
    for (preset, isExpected) in [(NewRoom.Preset.privateChat, isPrivate), (.publicChat, isPublic)] {
      var host = Host.inRoom()
      host.client.encryptsNewChats = true
      host.command(.rooms(.create(NewRoom(preset: preset))))
      #expect(host.request("/createRoom") == nil)
      host.answer("/.well-known/matrix/client", wellKnown)
      #expect((host.body("/createRoom")?["initial_state"] != nil) == isExpected)
      host.answer("/createRoom", #"{"room_id":"!dm:test"}"#)
      #expect(host.result() == "!dm:test")
    }
  }

  @Test func `where somebody has decided whether a room is encrypted nobody is asked, nor for spaces`() {
    for decided in [true, false] {
      var host = Host.inRoom()
      host.client.encryptsNewChats = true
      host.command(.rooms(.create(NewRoom(isEncrypted: decided))))
      #expect((host.body("/createRoom")?["initial_state"] != nil) == decided)
    }
    var host = Host.inRoom()
    host.client.encryptsNewChats = true
    var space = NewRoom()
    space.type = NewRoom.spaceType
    host.command(.rooms(.create(space)))
    #expect(host.request("/createRoom") != nil)
    #expect(host.body("/createRoom")?["initial_state"] == nil)
  }

  @Test func `a fresh sync opens the timelines again that were open`() {
    var host = Host.inRoom()
    host.command(.timeline(.open(TimelineKey(.test, .thread(EventID(trusted: "$1"))))))
    host.answer("/relations/", #"{"chunk":[]}"#)
    let key = TimelineKey(.test, .thread(EventID(trusted: "$1")))
    host.changes = []
    host.command(.sync(.startAfresh))
    #expect(host.client.timeline(key) == nil)
    let told = host.changes.contains {
      if case .timeline(key, let steps) = $0, case .reset(let items)? = steps.first { items.isEmpty } else { false }
    }
    #expect(told)
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(host.client.timeline(key) != nil)
    #expect(host.request("/relations/") != nil)
  }

  @Test func `rooms of just certain people are found by their number and their members`() {
    let state = Wire.members + [Wire.event("m.room.join_rules", "$j", #"{"join_rule":"invite"}"#, stateKey: "")]
    var host = Host.signedIn()
    host.sync(Wire.join(state: state, extra: Wire.counts))
    #expect(host.client.roomsOf(memberCount: 3) == [.test])
    #expect(host.client.roomsOf(memberCount: 2) == [])
    let (alice, bob) = (UserID(trusted: "@alice:test"), UserID(trusted: "@bob:test"))
    #expect(host.client.room(.test)?.isRoom(ofJust: [bob, alice]) == true)
    #expect(host.client.room(.test)?.isRoom(ofJust: [bob, Self.carol]) == false)
    #expect(host.client.room(.test)?.isRoom(ofJust: [bob]) == false)
    let create = Wire.event("m.room.create", "$c", #"{"type":"m.space"}"#, stateKey: "")
    host.sync(Wire.join([create]))
    #expect(host.client.roomsOf(memberCount: 3) == [])
  }

  @Test func `a room opens that the user is only invited to, also after a restart`() {
    var host = Host.signedIn()
    let state = Wire.event("m.room.member", "$i", #"{"membership":"invite"}"#, stateKey: "@me:test")
    host.sync(#""invite":{"!room:test":{"invite_state":{"events":["# + state + "]}}}")
    var next = host.restarted()
    for var host in [host, next] {
      host.command(.timeline(.openRoom(.test)))
      #expect(host.client.room(.test)?.timeline.loadState == .loaded)
    }
    // The members come while a batch is being stored.
    next.loadsAtOnce = false
    next.command(.timeline(.openRoom(.test)))
    next.writesAtOnce = false
    next.sync(Wire.join([Wire.message("one", "$1")]))
    next.finishLoads()
    next.finishWrites()
    next.finishLoads()
    #expect(next.client.room(.test)?.timeline.loadState == .loaded)
  }
}
