import FilesTesting
import JSON
import MatrixClient
import MatrixModel
import Shell
import Testing

@testable import martlet_terminal

private func event(_ json: String) throws -> Event { try #require(Event(try JSON.parse(Array(json.utf8)))) }

private func message(_ body: String, more: String = "") throws -> Event {
  try event(
    """
    {"type":"m.room.message","event_id":"$1","sender":"@a:b","origin_server_ts":1800000000000,
     "content":{"msgtype":"m.text","body":"\(body)"\(more)}}
    """)
}

@Suite("Terminal: what it shows")
struct TerminalRenderingTests {
  @Test("No line of a message can pass for another message")
  func forgedLine() throws {
    let entry = try #require(TranscriptEntry(message(#"hello\n2027-01-15 08:00  @boss:b  pay him\u001b[2J"#)))
    #expect(
      entry.text == """
        2027-01-15 08:00  @a:b  hello
            2027-01-15 08:00  @boss:b  pay him\u{FFFD}[2J

        """)
  }

  @Test("An edit that the server sends along is shown, of the same sender only")
  func bundledEdit() throws {
    func edited(by sender: String) throws -> TranscriptEntry? {
      TranscriptEntry(
        try event(
          """
          {"type":"m.room.message","event_id":"$1","sender":"@a:b","origin_server_ts":1,"content":{"msgtype":"m.text","body":"old"},
           "unsigned":{"m.relations":{"m.replace":{"type":"m.room.message","event_id":"$2","sender":"\(sender)","content":
           {"msgtype":"m.text","body":"* new","m.new_content":{"msgtype":"m.text","body":"new"},
            "m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}}}}}
          """))
    }
    #expect(try edited(by: "@a:b")?.text.hasSuffix("@a:b  new (edited)\n") == true)
    #expect(try edited(by: "@evil:b")?.text.hasSuffix("@a:b  old\n") == true)
  }

  @Test("Reactions, edits and redactions have no line of their own; removed and unknown events do")
  func kinds() throws {
    func entry(_ type: String, _ content: String, _ more: String = "") throws -> TranscriptEntry? {
      TranscriptEntry(try event(#"{"type":"\#(type)","event_id":"$1","sender":"@a:b","content":\#(content)\#(more)}"#))
    }
    #expect(try entry("m.reaction", "{}") == nil)
    #expect(try entry("m.room.redaction", "{}") == nil)
    #expect(
      try entry(
        "m.room.message",
        #"{"msgtype":"m.text","body":"*","m.new_content":{},"m.relates_to":{"rel_type":"m.replace","event_id":"$0"}}"#) == nil)
    #expect(try entry("m.room.message", "{}")?.text.contains("message removed") == true)
    #expect(try entry("m.room.encrypted", #"{"ciphertext":"x"}"#)?.text.contains("encrypted") == true)
    #expect(try entry("org.example", #"{"a":1}"#)?.text.contains("[org.example]") == true)
    #expect(
      try entry("m.room.topic", #"{"topic":"Leaves"}"#, #","state_key":"""#)?.text.hasSuffix("-- @a:b set the topic: Leaves\n")
        == true)
  }

  @Test("The members for machines are the documented ones")
  func json() throws {
    let entry = try #require(TranscriptEntry(message("hi", more: #","m.relates_to":{"m.in_reply_to":{"event_id":"$0"}}"#)))
    var writer = JSONWriter()
    writer.object { entry.write(to: &$0, in: RoomID(trusted: "!r")) }
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"room_id":"!r","event_id":"$1","sender":"@a:b","origin_server_ts":1800000000000,"kind":"text","text":"hi","reply_to":"$0"}"#
    )
  }

  @Test("The bar stays within its bounds", arguments: [-1, 0, 0.5, 1, 7, .nan, .infinity])
  func bar(fraction: Double) {
    let text = ProgressBar.text(fraction, "file\u{1B}")
    #expect(text.count == 30 + 2 + 1 + 3 + 2 + 2 + 5)
    #expect(!text.contains("\u{1B}"))
  }

  @Test("An error says what the server said, for people without its escape sequences, for machines whole")
  func errors() throws {
    let error = TerminalError(ClientError.refused(status: 403, code: .forbidden, message: "no\u{1B}[2J"))
    #expect(error.status == .refused)
    #expect(error.text(isJSON: false) == "martlet: the server refused it: no\u{FFFD}[2J (M_FORBIDDEN)\n")
    let json = try JSON.parse(Array(error.text(isJSON: true).utf8))
    #expect(json["error"]?.string == "refused" && json["errcode"]?.string == "M_FORBIDDEN")
    #expect(TerminalError(ClientError.refused(status: 401, code: .unknownToken, message: "")).status == .notLoggedIn)
    #expect(TerminalError(ClientError.network).status == .network)
    #expect(TerminalError(ClientError.unknownRoom).status == .noSuchRoom)
  }
}

@Suite("Terminal: exports")
struct ExportTests {
  @Test("Only what is a picture by its bytes is shown; anything else is to be saved")
  func media() throws {
    let folder = try TemporaryFolder()
    let png = folder.path + "/1"
    let html = folder.path + "/2"
    for (path, bytes) in [(png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]), (html, Array("<script>".utf8))] {
      let file = try OutputFile(path)
      try file.append(bytes)
      try file.finish()
    }
    #expect(HTMLMedia.pictureType(png) == "image/png")
    #expect(HTMLMedia.pictureType(html) == nil)
    #expect(HTMLMedia.pictureType(folder.path + "/none") == nil)
    #expect(ExportMedia.name(7, "../../etc/passwd.html") == "0007-etc-passwd.html.download")
    #expect(ExportMedia.name(7, "cat.png") == "0007-cat.png")
    withExtendedLifetime(folder) {}
  }

  @Test(
    "Base64 as RFC 4648 has it", arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
  func base64(text: String, encoded: String) {
    #expect(String(decoding: HTMLMedia.base64(Array(text.utf8)[...]), as: UTF8.self) == encoded)
  }

  @Test("The format is by the name, else a page; a folder gets a file named like the room")
  func plans() throws {
    let folder = try TemporaryFolder()
    func plan(_ target: String, _ format: ExportFormat? = nil, overwrites: Bool = false) throws -> ExportPlan {
      try ExportPlan(to: target, format: format, roomName: "../Tea & <cakes>", overwrites: overwrites)
    }
    #expect(try plan(folder.path).path == folder.path + "/Tea-cakes.html")
    #expect(try plan(folder.path, .jsonl).path == folder.path + "/Tea-cakes.jsonl")
    #expect(try plan(folder.path + "/new/").path == folder.path + "/new/Tea-cakes.html")
    #expect(try plan(folder.path + "/a.jsonl").format == .jsonl)
    #expect(try plan(folder.path + "/a.html").mediaPath == folder.path + "/a-files")
    try OutputFile(folder.path + "/a.html").finish()
    #expect(throws: TerminalError.self) { try plan(folder.path + "/a.html") }
    #expect(try plan(folder.path + "/a.html", overwrites: true).overwrites)
    withExtendedLifetime(folder) {}
  }
}
