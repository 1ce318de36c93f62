import JSON
import MatrixModel
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerPush
@testable import ServerRooms

@Suite struct MailDeliveryTests {
  private typealias Fixture = MailPushFixture
  private static let minute = MailPushFixture.minute

  @Test func `a message that stays unread for ten minutes is told of by mail, in text and in HTML`() async throws {
    try await Fixture.run { mails in
      try await mails.say("Hello ann")
      #expect(try await mails.sent(after: 10 * Self.minute - 1).isEmpty)
      let sent = try await mails.sent(after: 1)
      #expect(sent.count == 1)
      let mail = try #require(sent.first)
      #expect(mail.contains("To: <ann@example.com>"))
      #expect(Fixture.header("Subject", of: mail) == "A new message in Tea")
      let link = "\(Fixture.base)/#room/" + mails.room.replacing("%21", with: "!").replacing("%3A", with: ":")
      let text = try Fixture.part("text/plain", of: mail)
      #expect(text.contains("Tea\r\n\r\n  bob: Hello ann\r\n"))
      #expect(text.contains(link) && text.contains("@ann:example.org"))
      let html = try Fixture.part("text/html", of: mail)
      #expect(html.contains("<b>bob</b>: Hello ann") && html.contains("<a href=\"\(link)\">Tea</a>"))
      let out = try Fixture.wayOut(of: mail)
      #expect(text.contains(Fixture.base + out) && html.contains(Fixture.base + out))
      #expect(mail.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"))
      #expect(try await mails.sent(after: 48 * 60 * Self.minute).isEmpty)
    }
  }

  @Test func `who reads or answers meanwhile gets no mail`() async throws {
    try await Fixture.run { mails in
      try await mails.read(try await mails.say("one"))
      try await mails.say("two", in: try await mails.makeRoom(#","name":"Cake""#))
      try await mails.sent()
      let rooms = try await mails.fixture.call(.get, "joined_rooms", as: mails.ann).json["joined_rooms"]?.elements
      for room in rooms?.compactMap(\.string) ?? [] {
        try await mails.say("answer", as: mails.ann, in: PercentEncoding.encode(ByteString(room)))
      }
      #expect(try await mails.sent(after: 10 * Self.minute).isEmpty)
      #expect(try await mails.rows().waiting == 0)
      // What comes after the answer is news.
      try await mails.say("three")
      let mail = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(mail.contains("bob: three") && !mail.contains("two") && !mail.contains("one\r\n"))
    }
  }

  @Test func `what is redacted, ignored, muted or out of reach meanwhile is not told`() async throws {
    try await Fixture.run { mails in
      func call(_ method: HTTPMethod, _ path: String, as user: APIFixture.User, _ body: String) async throws {
        #expect(try await mails.fixture.call(method, path, as: user, body).status == 200)
      }
      let redacted = PercentEncoding.encode(ByteString(try await mails.say("oops")))
      let (muted, left) = (try await mails.makeRoom(""), try await mails.makeRoom(""))
      for room in [muted, left] { try await mails.say("hello", in: room) }
      try await mails.sent()
      try await call(.put, "rooms/\(mails.room)/redact/\(redacted)/t", as: mails.bob, "{}")
      try await call(.put, "pushrules/global/room/\(muted)", as: mails.ann, #"{"actions":["dont_notify"]}"#)
      try await call(.post, "rooms/\(left)/leave", as: mails.ann, "{}")
      #expect(try await mails.sent(after: 10 * Self.minute).isEmpty)
      try await mails.say("again")
      try await mails.sent()
      try await call(
        .put, APIFixture.own(mails.ann, "account_data/m.ignored_user_list"), as: mails.ann,
        #"{"ignored_users":{"@bob:example.org":{}}}"#)
      #expect(try await mails.sent(after: 10 * Self.minute).isEmpty)
      #expect(try await mails.rows().waiting == 0)
    }
  }

  @Test func `a room that is not read is told of after ever longer pauses, one that is read like the first time`() async throws
  {
    try await Fixture.run { mails in
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      for (pause, text) in [(60, "two"), (240, "three"), (960, "four"), (1_440, "five"), (1_440, "six")] as [(Int64, String)] {
        try await mails.say(text)
        #expect(try await mails.sent(after: pause * Self.minute - 1).isEmpty)
        let sent = try await mails.sent(after: 1)
        #expect(sent.count == 1)
        // What was told before is not told again.
        #expect(sent.first?.contains("bob: \(text)") == true && sent.first?.contains("bob: one") == false)
      }
      try await mails.read(try await mails.say("seven"))
      try await mails.say("eight")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("nine")
      #expect(try await mails.sent(after: 60 * Self.minute - 1).isEmpty)
      #expect(try await mails.sent(after: 1).count == 1)
    }
  }

  @Test func `who reads a room that is pausing is told of what comes then without the pause`() async throws {
    try await Fixture.run { mails in
      let first = try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("two")
      #expect(try await mails.sent(after: 20 * Self.minute).isEmpty)
      // Only what was told of; the rest is older than ten minutes.
      try await mails.read(first)
      #expect(try await mails.sent().count == 1)
    }
  }

  @Test func `one mail tells of all rooms, and of those beyond the limit how many`() async throws {
    try await Fixture.run { mails in
      var rooms = [mails.room]
      for number in 1..<UnreadMail.roomsLimit { rooms.append(try await mails.makeRoom(#","name":"Room \#(number)""#)) }
      for room in rooms { try await mails.say("hello", in: room) }
      let full = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(Fixture.header("Subject", of: full) == "20 new messages in Room 19 and 19 other rooms")
      #expect(!full.contains("There is more"))
      rooms.append(try await mails.makeRoom(#","name":"One more""#))
      for room in rooms.reversed() { try await mails.say("again", in: room) }
      let sent = try await mails.sent(after: 60 * Self.minute)
      #expect(sent.count == 1)
      let text = try Fixture.part("text/plain", of: try #require(sent.first))
      #expect(text.contains("There is more to read in another room.") && !text.contains("One more"))
      #expect(try await mails.rows().waiting == 0)
    }
  }

  @Test func `a room shows its newest messages and says how many there were before`() async throws {
    try await Fixture.run { mails in
      for number in 1...(UnreadMail.linesLimit + 1) { try await mails.say("number \(number).") }
      let text = try Fixture.part("text/plain", of: try #require(try await mails.sent(after: 10 * Self.minute).first))
      #expect(text.contains("(and 1 before)") && !text.contains("number 1.") && text.contains("number 2."))
      let first = try #require(text.firstRange(of: "number 2."))
      let last = try #require(text.firstRange(of: "number 11."))
      #expect(first.lowerBound < last.lowerBound)
    }
  }

  @Test func `of a busy room a bounded number waits, and the oldest says since when`() async throws {
    try await Fixture.run { mails in
      for number in 1...MailQueue.eventsLimit { try await mails.say("number \(number).") }
      try await mails.sent()
      #expect(try await mails.rows().waiting == Int64(MailQueue.eventsLimit))
      try await mails.sent(after: 5 * Self.minute)
      for number in 1...3 { try await mails.say("later \(number).") }
      try await mails.sent()
      #expect(try await mails.rows().waiting == Int64(MailQueue.eventsLimit))
      let sent = try await mails.sent(after: 5 * Self.minute)
      #expect(sent.first?.contains("later 3.") == true)
    }
  }

  @Test func `names and messages of others stay what they are: one line, and no HTML`() async throws {
    try await Fixture.run(room: #","name":"Tea\r\nBcc: eve@example.org<script>""#) { mails in
      let path = "profile/\(PercentEncoding.encode(mails.bob.userID.text))/displayname"
      _ = try await mails.fixture.call(
        .put, path, as: mails.bob, #"{"displayname":"Bob\nTo: eve@example.org \u202e<b onclick=\"x\">"}"#)
      try await mails.say(#"one\ncarl: forged\r\n.\r\n</p><a href=\"https://evil.example\">"#)
      let mail = try #require(try await mails.sent(after: 10 * Self.minute).first)
      let head = mail[..<(try #require(mail.firstRange(of: "\r\n\r\n")).lowerBound)]
      #expect(!head.contains("\r\nBcc:") && head.ranges(of: "\r\nTo:").count + (head.hasPrefix("To:") ? 1 : 0) == 1)
      let text = try Fixture.part("text/plain", of: mail)
      #expect(text.contains(#"Bob To: eve@example.org <b onclick="x">: one carl: forged . </p>"#))
      #expect(!text.contains("\r\ncarl") && !mail.contains("=E2=80=AE"))
      let html = try Fixture.part("text/html", of: mail)
      #expect(!html.contains("<script>") && !html.contains("<b onclick") && !html.contains("href=\"https://evil"))
      #expect(html.contains("&lt;script&gt;") && html.contains("&lt;/p&gt;&lt;a href=&quot;"))
    }
  }

  @Test func `of encrypted messages it is said who sent one, of an invitation who invites`() async throws {
    try await Fixture.run { mails in
      _ = try await mails.fixture.call(
        .put, "rooms/\(mails.room)/send/m.room.encrypted/t", as: mails.bob,
        #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"AAAA","session_id":"s"}"#)
      let secret = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(secret.contains("bob sent an encrypted message") && !secret.contains("AAAA"))
      _ = try await mails.fixture.call(
        .post, "createRoom", as: mails.bob, #"{"name":"Cake","invite":["@ann:example.org"]}"#)
      let invitation = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(Fixture.header("Subject", of: invitation) == "bob invites you to Cake")
    }
  }

  @Test func `a room of two is named after the other`() async throws {
    try await Fixture.run(room: "") { mails in
      try await mails.say("one")
      try await mails.say("two")
      let mail = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(Fixture.header("Subject", of: mail) == "2 new messages from bob")
    }
  }

  @Test func `where the operator wants so, mails do not say what was written`() async throws {
    try await Fixture.run({ $0.notificationMails.showsMessages = false }) { mails in
      try await mails.say("a secret")
      try await mails.say("another")
      let mail = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(!mail.contains("a secret") && !mail.contains("bob:"))
      #expect(Fixture.header("Subject", of: mail) == "2 new messages in Tea" && mail.contains("(2 new messages)"))
    }
  }

  @Test func `a restart neither loses nor repeats a mail`() async throws {
    try await Fixture.run { mails in
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("two")
      try await mails.sent()
      try await mails.say("three", in: try await mails.makeRoom(#","name":"Cake""#))
      await mails.fixture.homeserver.shutdown()
      let restarted = try Homeserver(mails.fixture.homeserver.configuration, log: Log("test"))
      try await restarted.push.catchUp()
      #expect(mails.server.mails.count == 1)
      mails.fixture.advance(milliseconds: 10 * Self.minute)
      try await restarted.push.catchUp()
      #expect(mails.server.mails.count == 2 && mails.server.mails.last?.contains("bob: three") == true)
      mails.fixture.advance(milliseconds: 50 * Self.minute)
      try await restarted.push.catchUp()
      #expect(mails.server.mails.count == 3 && mails.server.mails.last?.contains("bob: two") == true)
      await restarted.shutdown()
    }
  }

  @Test func `a mail that the mail server does not take comes later, once and under the same ID`() async throws {
    try await Fixture.run { mails in
      mails.server.refuse(true)
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).isEmpty)
      #expect(mails.server.refused.count == 1)
      // Not before its time.
      #expect(try await mails.sent(after: 29_999).isEmpty && mails.server.refused.count == 1)
      mails.server.refuse(false)
      try await mails.say("two")
      let sent = try await mails.sent(after: Self.minute)
      #expect(sent.count == 1 && sent.first?.contains("bob: two") == true)
      let mail = try #require(sent.first)
      let id = try #require(Fixture.header("Message-ID", of: mail))
      #expect(mails.server.refused.compactMap { Fixture.header("Message-ID", of: $0) } == [id])
      try await mails.say("three")
      let next = try #require(try await mails.sent(after: 60 * Self.minute).first)
      #expect(Fixture.header("Message-ID", of: next) != id)
    }
  }

  @Test func `a locked account gets no mail`() async throws {
    try await Fixture.run { mails in
      _ = try await mails.fixture.homeserver.database.write { tx in
        try tx.execute("UPDATE account SET is_locked = 1 WHERE user_id = $1", mails.ann.userID)
      }
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).isEmpty)
      #expect(try await mails.rows().waiting == 0)
    }
  }

  @Test func `a room that is purged takes what waits with it`() async throws {
    try await Fixture.run { mails in
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("two")
      try await mails.sent()
      let rows = try await mails.rows()
      #expect(rows.waiting == 1 && rows.rooms == 1)
      let number = try await mails.fixture.homeserver.database.read { tx in
        try tx.first("SELECT room FROM mail_room") { $0.integer(0) }
      }
      _ = try await mails.fixture.homeserver.database.write { tx in
        for statement in RoomRows.ofMember { try tx.execute(statement, mails.ann.userID, number) }
      }
      let left = try await mails.rows()
      #expect(left.waiting == 0 && left.rooms == 0)
    }
  }
}
