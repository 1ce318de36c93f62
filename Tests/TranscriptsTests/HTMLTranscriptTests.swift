import ClientCore
import JSON
import MatrixModel
import Testing

@testable import Transcripts

@Suite("Transcripts: pages")
struct HTMLTranscriptTests {
  /// The page of these events.
  private func page(
    _ events: [String], title: String = "Tea", topic: String? = nil, words: TranscriptWords = .plain,
    file: HTMLTranscript.File? = nil
  ) throws -> String {
    let lines = try events.map { try event($0) }
    var relations = ExportRelations()
    for (i, line) in lines.enumerated() { relations.note(line, at: Int64(i), count: 1) }
    var transcript = HTMLTranscript(words, relations)
    transcript.begin(title: title, topic: topic, about: title)
    for line in lines { transcript.add(line, edit: relations.edit(of: line).map { lines[Int($0.offset)] }, file: file) }
    transcript.end()
    return transcript.take().text
  }

  @Test(
    "What commands a terminal or turns the direction of writing becomes U+FFFD",
    arguments: ["\u{1B}", "\u{7}", "\u{7F}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{200F}", "\u{2028}", "\u{E0041}", "\r"])
  func harmless(character: String) {
    #expect(HarmlessText.line("a\(character)b") == "a\u{FFFD}b")
    #expect(HarmlessText.lines("a\(character)b\n\tc") == "a\u{FFFD}b\n\tc")
    #expect(HarmlessText.line("a\nb\tc") == "a\u{FFFD}b\u{FFFD}c")
    #expect(HarmlessText.line("żółw 🐢 שלום") == "żółw 🐢 שלום")
  }

  private static let hostile = [
    #"<script>document.title='hacked'</script>"#, #"\"><img src=x onerror=alert(1)>"#, #"' onmouseover='alert(1)"#,
    "</style></title><b>",
    "&lt;script&gt;"
  ]

  @Test("Whatever strangers write is text", arguments: hostile)
  func escaping(text: String) throws {
    let plain = text.replacing("\\\"", with: "\"")
    let page = try page(
      [
        #"{"type":"m.room.member","event_id":"$0","sender":"@a:b","state_key":"@a:b","content":{"membership":"join","displayname":"\#(text)"}}"#,
        #"{"type":"m.room.message","event_id":"$1","sender":"@a:b","content":{"msgtype":"m.text","body":"\#(text)"}}"#,
        #"{"type":"m.room.message","event_id":"$2\#(text)","sender":"@a:b","content":{"msgtype":"m.file","body":"\#(text)","url":"mxc://b/c"}}"#,
        #"{"type":"m.room.message","event_id":"$3","sender":"@a:b","content":{"msgtype":"m.text","body":"r","m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}}"#,
        #"{"type":"m.reaction","event_id":"$4","sender":"@a:b","content":{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"\#(text)"}}}"#,
        #"{"type":"\#(text)","event_id":"$5","sender":"@a:b","content":{}}"#,
        #"{"type":"m.room.topic","event_id":"$6","sender":"@a:b","state_key":"","content":{"topic":"\#(text)"}}"#
      ], title: plain, topic: plain)
    #expect(!page.contains(plain))
    #expect(page.contains(HTMLText.escaped(plain)))
    #expect(page.contains("default-src 'none'"))
    for tag in ["<script", "<img", "<b>", "onerror=\"", " onmouseover='"] { #expect(!page.contains(tag)) }
  }

  @Test("Edits, reactions, replies and removals are shown where they belong")
  func relations() throws {
    let page = try page([
      #"{"type":"m.room.message","event_id":"$1","sender":"@a:b","content":{"msgtype":"m.text","body":"one"}}"#,
      #"{"type":"m.room.message","event_id":"$2","sender":"@c:b","content":{"msgtype":"m.text","body":"two","m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}}"#,
      #"{"type":"m.reaction","event_id":"$3","sender":"@c:b","content":{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}}"#,
      #"{"type":"m.reaction","event_id":"$4","sender":"@d:b","content":{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}}"#,
      #"{"type":"m.room.message","event_id":"$5","sender":"@a:b","content":{"msgtype":"m.text","body":"* uno","m.new_content":{"msgtype":"m.text","body":"uno"},"m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}}"#,
      #"{"type":"m.room.message","event_id":"$6","sender":"@c:b","content":{"msgtype":"m.text","body":"* bad","m.new_content":{"msgtype":"m.text","body":"bad"},"m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}}"#,
      #"{"type":"m.room.message","event_id":"$7","sender":"@a:b","content":{},"unsigned":{"redacted_because":{"sender":"@c:b"}}}"#
    ])
    #expect(page.contains("<p dir=\"auto\">uno <small>(edited)</small></p>"))
    #expect(page.contains("<span>👍 2</span>"))
    #expect(page.contains("<blockquote><a href=\"#%241\">@a:b</a> uno</blockquote>"))
    #expect(page.contains("removed by @c:b"))
    #expect(!page.contains("bad") && !page.contains(">one<"))
    #expect(page.matches(of: /class="first"/).count == 3)
  }

  @Test("A file that the page does not have leads to its message, by an address that cannot leave its quotes")
  func addresses() throws {
    var words = TranscriptWords.plain
    words.address = { "https://example.org/#/room/\($0.string)\"><script>" }
    let page = try page(
      [
        #"{"type":"m.room.message","event_id":"$1","sender":"@a:b","content":{"msgtype":"m.file","body":"a.pdf","url":"mxc://b/c","info":{"size":7}}}"#
      ],
      words: words)
    #expect(
      page.contains(
        "<a rel=\"noreferrer\" href=\"https://example.org/#/room/$1&quot;&gt;&lt;script&gt;\">file: a.pdf</a> <small>7 B</small>"
      ))
  }

  @Test("A page says its language and direction, and names members whose joining is not part of it")
  func language() throws {
    var words = TranscriptWords.plain
    words.language = "ar"
    words.isRightToLeft = true
    words.name = { _ in "Ana <b>" }
    let page = try page(
      [#"{"type":"m.room.message","event_id":"$1","sender":"@a:b","content":{"msgtype":"m.text","body":"one"}}"#], words: words)
    #expect(page.contains("<html lang=\"ar\" dir=\"rtl\">"))
    #expect(page.contains("<bdi>Ana &lt;b&gt;</bdi>"))
  }
}
