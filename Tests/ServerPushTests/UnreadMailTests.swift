import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerPush
@testable import ServerRooms

@Suite struct UnreadMailTests {
  @Test(arguments: [
    ("plain", "plain"), ("  a \t b\r\n\r\nc  ", "a b c"), ("a\u{2028}b\u{85}c\u{0}d", "a b c d"),
    ("\u{202E}abc\u{2066}", "abc"),
    ("", ""), ("\n", ""), ("👩\u{200D}🚀 ü", "👩\u{200D}🚀 ü")
  ])
  func `text of others is one line that only goes forward`(_ text: String, _ line: String) {
    #expect(OneLine.text(text, limit: 100) == line)
  }

  @Test func `a line is as long as it may be and no longer`() {
    let text = String(repeating: "x", count: 50)
    #expect(OneLine.text(text, limit: 50) == text)
    #expect(OneLine.text(text + "y", limit: 50) == text + "…")
  }

  @Test func `pauses grow fourfold up to the longest`() {
    var mails = NotificationMails()
    let hour: Int64 = 3_600_000
    #expect((0...6).map { mails.pauseMilliseconds(after: $0) / hour } == [1, 1, 4, 16, 24, 24, 24])
    #expect(mails.pauseMilliseconds(after: .max) == 24 * hour)
    mails.pauseMilliseconds = 48 * hour
    #expect(mails.pauseMilliseconds(after: 1) == 24 * hour)
  }

  private func preview(_ type: EventType, _ content: String, _ stateKey: ByteString? = nil) throws -> MessagePreview {
    MessagePreview(
      StoredEvent(
        position: 1, eventID: EventID(trusted: "$e"), room: RoomNumber(1), type: type, stateKey: stateKey,
        sender: UserID(trusted: "@bob:example.org"), timestamp: 0, depth: 1, shared: [],
        content: try JSON.parse(Array(content.utf8))))
  }

  @Test func `each kind of message is shown as what it is`() throws {
    let cases: [(EventType, String, MessagePreview)] = [
      (.message, #"{"msgtype":"m.text","body":"hello\nthere"}"#, .said("hello there")),
      (.message, #"{"msgtype":"m.notice","body":"beep"}"#, .said("beep")),
      (.message, #"{"msgtype":"m.emote","body":"waves"}"#, .did("waves")),
      (.message, #"{"msgtype":"m.image","body":"cat.png"}"#, .did("sent a picture: cat.png")),
      (.message, #"{"msgtype":"m.file"}"#, .did("sent a file")), (.message, #"{"body":7}"#, .did("sent a message")),
      (.message, "{}", .did("sent a message")), (.encrypted, "{}", .did("sent an encrypted message")),
      (.sticker, #"{"body":"x"}"#, .did("sent a sticker")), ("m.call.invite", "{}", .did("called")),
      ("org.example", #"{"body":"x"}"#, .did("did something new")),
      (
        .message, #"{"body":"> <@a:b> old\n> lines\n\nnew","m.relates_to":{"m.in_reply_to":{"event_id":"$x"}}}"#, .said("new")
      ),
      (.message, #"{"body":"> quoted by hand\n\nnew"}"#, .said("> quoted by hand new"))
    ]
    for (type, content, expected) in cases { #expect(try preview(type, content) == expected, "\(content)") }
  }
}
