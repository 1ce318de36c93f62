import ClientCore
import Foundation
import JSON
import MatrixModel
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("What people write")
struct WritingTests {
  private func meaning(_ text: String) -> String {
    switch SlashCommand(text) {
    case .message(let written):
      "\(written.style)\(written.isPlain ? " plain" : "")\(written.isSilent ? " silent" : ""): " + written.text
    case .command: "command"
    case .wrong(let use): "wrong: " + use
    case .unknown(let name, let rest): "unknown: " + name + (rest.isEmpty ? "" : ", " + rest)
    }
  }

  // Proves C41, P11
  @Test(
    "a text that begins with a slash is a command, and an unknown command is refused with a reason",
    arguments: [
      ("hello /me", "text: hello /me"), ("/me waves", "emote: waves"), ("/me", "wrong: /me …"),
      ("/shrug", "text plain: ¯\\_(ツ)_/¯"), ("/shrug why", "text plain: why ¯\\_(ツ)_/¯"), ("/plain *a*", "text plain: *a*"),
      ("//usr", "text: /usr"), ("/usr/bin is full", "text: /usr/bin is full"), ("/", "text: /"), ("/dance", "unknown: dance"),
      ("/dance  a waltz ", "unknown: dance, a waltz"),
      ("/invite @bob:b.example", "command"), ("/invite bob", "wrong: /invite @user:server"),
      ("/kick @bob:b.example too loud", "command"), ("/ban", "wrong: /ban @user:server"), ("/topic Tea", "command"),
      ("/topic", "wrong: /topic …"), ("/nick Al", "command"), ("/join #tea:b.example", "command"), ("/leave", "command"),
      ("/silent *sh*", "text silent: *sh*"), ("/silent /me tiptoes", "emote silent: tiptoes"), ("/silent", "wrong: /silent …"),
      ("/silent /leave", "command"), ("/silent /dance", "unknown: dance")
    ])
  func commands(_ text: String, _ wanted: String) {
    #expect(meaning(text) == wanted)
  }

  // Proves C37
  @Test(
    "names and emoji are found by what they begin with, then by their words, then by any part",
    arguments: [
      ("alice ashby", "al", 0), ("alice ashby", "ash", 1), ("alice ashby", "ice", 2), ("alice", "alicex", nil), ("a-b", "b", 1),
      ("abc", "", 0)
    ] as [(String, String, Int?)])
  func ranks(_ name: String, _ wanted: String, _ rank: Int?) {
    #expect(Match.rank(name, wanted) == rank)
  }

  // Proves P8
  @Test("a message shows previews of three links, each once, without those that its writer wants none of")
  func previewed() {
    let body = (1...5).map { "https://a.example/\($0) https://a.example/1" }.joined(separator: " ")
    var message = MessageContent(kind: .text, body: ByteString(body))
    #expect(message.previewed == ["https://a.example/1", "https://a.example/2", "https://a.example/3"])
    message.details = .text(unpreviewed: ["https://a.example/1", "https://a.example/3", "https://other.example"])
    #expect(message.previewed == ["https://a.example/2", "https://a.example/4", "https://a.example/5"])
    message.details = .text(unpreviewed: ["https://a.example"])
    #expect(message.previewed.count == 3)
  }

  @Test("of the words behind @ the longest counts, and no part of another one")
  func called() {
    let words = ["design", "design-team", "here"].map { Array($0.utf8) }
    #expect(MentionWriting.called(words, in: "@design-team, @here") == [1, 2])
    #expect(MentionWriting.called(words, in: "@design2 @design_x @design-x @designers x@here") == [])
    #expect(MentionWriting.called(words, in: "(@design) @design - @design.") == [0])
  }

  @Test("a name becomes a link, the longest that fits, and the one that was chosen before others of that name")
  func mentions() {
    let bo = UserID(trusted: "@bo:b.example")
    let names = [("Bo", bo), ("Bo Ris", UserID(trusted: "@boris:b.example")), ("Bo", UserID(trusted: "@other:b.example"))]
    let linked = MentionWriting.linked("@Bo Ris and @Bo, not @Bob, x@Bo", names.map { (Array($0.utf8), $1) })
    #expect(
      linked
        == "[@Bo Ris](https://matrix.to/#/%40boris%3Ab.example) and [@Bo](https://matrix.to/#/%40bo%3Ab.example), not @Bob, x@Bo"
    )
  }

  // Proves C40, P10
  @Test("every emoji of the file has a name of its own letters, and the usual ones are found")
  func emoji() throws {
    let file = StringTableTests.web.appendingPathComponent("emoji.txt")
    let all = Emoji.read(Array(try Data(contentsOf: file)))
    let ofCategories = all.filter { $0.category != .often }
    #expect(ofCategories.count > 1500 && Set(ofCategories.map(\.name)).count == ofCategories.count)
    #expect(all.prefix { $0.category == .often }.allSatisfy { often in ofCategories.contains { $0.text == often.text } })
    for emoji in all {
      #expect(emoji.text.utf8.allSatisfy { $0 >= 0x80 } && !emoji.name.isEmpty && emoji.names.utf8.allSatisfy { $0 < 0x80 })
    }
    #expect(Emoji.matching("THUMBS", in: all, limit: 1).first?.text == "👍")
    #expect(Emoji.matching("rocket", in: all).first?.text == "🚀")
    #expect(Emoji.matching("flag of jap", in: all).map(\.text) == ["🇯🇵"] && Emoji.matching("laptop", in: all).first?.text == "💻")
    #expect(Emoji.matching("no such thing", in: all).isEmpty)
    #expect(Emoji.read(Array("x\n\n😀 grin".utf8)) == [Emoji(text: "😀", names: "grin")])
    #expect(Set(all.map(\.category)) == Set(Emoji.Category.allCases))
    #expect(all.first { $0.text == "🐻" }?.category == .nature && all.last { $0.text == "👍" }?.category == .people)
  }

  @Test("a long recording is summed up by the loudest of each part")
  func waveform() {
    let levels = (0..<600).map { $0 == 305 ? 1 : 0.25 }
    let summary = VoiceRecorder<FakeDOM>.summary(levels)
    #expect(summary.count == 60 && summary[30] == 1 && summary.filter { $0 == 0.25 }.count == 59)
    #expect(VoiceRecorder<FakeDOM>.summary([0.5]) == [0.5] && VoiceRecorder<FakeDOM>.summary([]).isEmpty)
  }

  // Proves C49
  @Test(
    "a day has a number", arguments: [("1970-01-01", 0), ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2026-11-22", 20_779)]
  )
  func day(_ text: String, _ number: Int) {
    #expect(CalendarDay(text)?.number == number)
  }

  @Test("an invalid date is not a day", arguments: ["", "2026", "2026-13-01", "2026-00-10", "2026-1-x", "99999999999-1-1"])
  func noDay(_ text: String) {
    #expect(CalendarDay(text) == nil)
  }

  // Proves C54
  @Test("JSON is shown with indents, and texts in it stay as they are")
  func indented() {
    #expect(
      Indented.json(Array(#"{"a":[1,{"b":"x,{\"y"}],"c":{}}"#.utf8)) == """
        {
          "a": [
            1,
            {
              "b": "x,{\\"y"
            }
          ],
          "c": {}
        }
        """)
  }
}
