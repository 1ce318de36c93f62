import JSON
import MatrixModel
import ServerQueries
import Testing

@testable import AdministrationCore

struct AdministrationQueryTests {
  private func answer<Answer>(_ query: Query<Answer>, _ json: String) throws -> Answer {
    try query.answer(.answer(try JSON.parse(Array(json.utf8))))
  }

  private let ann = UserID(trusted: "@ann:example.org")

  @Test("A list of users asks for what was searched, and knows where its next page begins")
  func users() throws {
    let query = Query<Void>.administeredUsers(matching: "a b", .locked, from: 2, limit: 2)
    #expect(query.request.target == "/_synapse/admin/v3/users?name=a%20b&limit=2&from=2&locked=true")
    let page = try answer(
      query,
      #"{"users":[{"name":"@ann:example.org","displayname":"Ann","locked":true},{"name":7},{"name":"@bob:example.org"}],"total":9}"#
    )
    #expect(page.items.map(\.title) == ["Ann", "@bob:example.org"] && page.total == 9 && page.next == 5)
    #expect(page.items[0].isLocked && !page.items[1].isLocked)
  }

  @Test("A user in the path is encoded, and a password is sent only if there is one")
  func creation() throws {
    let query = Query<Void>.createUser(ann, password: "", name: "Ann", isAdministrator: false)
    #expect(query.request.target == "/_synapse/admin/v2/users/%40ann%3Aexample.org")
    #expect(query.request.body == Array(#"{"displayname":"Ann","admin":false}"#.utf8))
    #expect(query.request.endpoint.access == .administrator)
  }

  @Test("A report tells what it is about, with the messages around it")
  func report() throws {
    let details = try answer(
      Query<Void>.report(3),
      #"""
      {"id":3,"user_id":"@bob:example.org","reason":"rude","room_id":"!r:example.org","event_id":"$e","received_ts":5,
       "event_json":{"event_id":"$e","sender":"@ann:example.org","type":"m.room.message","content":{"body":"bah"},
         "unsigned":{"redacted_because":{}}},
       "events_before":[{"event_id":"$d","sender":"@bob:example.org","type":"m.room.message","content":{"body":"hello"}},{}],
       "events_after":[]}
      """#)
    #expect(details.accused == ann && details.message?.isRemoved == true && details.message?.text == "bah")
    #expect(details.before.map(\.text) == ["hello"] && details.after.isEmpty)
  }

  @Test("Progress is read of deletions, purges and broadcasts")
  func progress() throws {
    let deletion = try answer(
      Query<Void>.deletion("x"), #"{"status":"purging","shutdown_room":{"kicked_users":["@a:b","@c:b"]}}"#)
    #expect(deletion.state == .active && deletion.done == 2)
    #expect(try answer(Query<Void>.purge("x"), #"{"status":"failed","error":"no"}"#).error == "no")
    let broadcasts = try answer(
      Query<Void>.broadcasts(),
      #"{"broadcasts":[{"broadcast_id":"b","status":"complete","reached":4,"total":5,"failed":1,"started_ts":1,"actor":"operator"}]}"#
    )
    #expect(broadcasts.items.first?.progress.done == 4 && broadcasts.items.first?.failed == 1)
  }

  @Test("A token is valid until its uses or its time are over")
  func tokens() throws {
    let page = try answer(
      Query<Void>.registrationTokens(),
      #"""
      {"registration_tokens":[{"token":"a","uses_allowed":2,"completed":1,"pending":0,"expiry_time":100},
        {"token":"b","uses_allowed":1,"completed":1},{"token":"c","uses_allowed":null,"completed":8,"expiry_time":null}]}
      """#)
    #expect(page.items.map { $0.isValid(at: 99) } == [true, false, true])
    #expect(page.items.map { $0.isValid(at: 100) } == [false, false, true])
  }

  @Test("An invite link is valid until its uses or its time are over; one without a maker is left out")
  func inviteLinks() throws {
    let page = try answer(
      Query<Void>.userInviteLinks(from: 50, limit: 50),
      #"""
      {"invite_links":[{"user_id":"@a:b","id":"1","room_id":"!r:b","room_name":"Hall","uses":1,"uses_allowed":2,"expires_ts":100},
        {"user_id":"@a:b","id":"2","uses":2,"uses_allowed":2,"expires_ts":100},{"id":"3","expires_ts":100}],"total":60,"next_from":53}
      """#)
    #expect(
      page.items.map(\.key) == ["1", "2"] && page.items[0].inviter.text == "@a:b" && page.items[0].link.roomName == "Hall")
    #expect(page.items.map { $0.link.isValid(at: 99) } == [true, false])
    #expect(page.items.map { $0.link.isValid(at: 100) } == [false, false])
    #expect(page.total == 60 && page.next == 53)
  }

  @Test("Details of an entry of the audit log are words")
  func audit() throws {
    let page = try answer(
      Query<Void>.audit(by: "", of: "user.", before: nil, limit: 50),
      #"{"entries":[{"entry":4,"time":1,"actor":"operator","action":"user.lock","target":"@a:b","details":{"erase":true,"why":"spam"},"outcome":"done"}],"next_before":4}"#
    )
    #expect(page.items.first?.details == "erase: true, why: spam" && page.items.first?.isDone == true && page.next == 4)
  }

  @Test("An answer that is not what was asked for is an error")
  func senseless() {
    #expect(throws: ClientError.self) {
      try answer(Query<Void>.administeredRooms(matching: "", .name, from: nil, limit: 5), #"{"rooms":7}"#)
    }
    #expect(throws: ClientError.self) { try answer(Query<Void>.serverHealth(), "{}") }
  }
}
