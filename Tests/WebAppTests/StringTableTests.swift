import ClientCore
import Foundation
import JSON
import MatrixModel
import MessengerTesting
import PageWidgets
import PageWords
import Testing
import WebHost

@testable import WebApp

@Suite("The texts of all languages")
struct StringTableTests {
  /// How many forms a language has for numbers. Source: Unicode CLDR, "Language Plural Rules".
  /// French and Spanish have one more for whole millions, which is the last here, too.
  static let forms = ["ar": 6, "de": 2, "en": 2, "es": 2, "fr": 2, "ja": 1]
  static let web = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Web")

  private static func file(_ name: String) throws -> String {
    try String(contentsOf: web.appendingPathComponent(name), encoding: .utf8)
  }

  /// Names and words, in the order of the file.
  private static func texts(_ language: String) throws -> [(name: String, words: String)] {
    try file("texts.\(language).txt").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let sign = try #require(line.range(of: " = "), "\(language): \(line)")
      return (String(line[..<sign.lowerBound]), String(line[sign.upperBound...]))
    }
  }

  private static func places(in words: some StringProtocol) -> [String] {
    (0..<3).map { "{\($0)}" }.filter { words.contains($0) }
  }

  /// Names that only one of them has, or has with other places.
  private static func differences(_ own: [(name: String, words: String)], _ english: [(name: String, words: String)])
    -> [String]
  {
    let places = { (texts: [(name: String, words: String)]) in
      Dictionary(texts.map { ($0.name, Self.places(in: $0.words.split(separator: "|").last ?? "")) }) { first, _ in first }
    }
    let (own, english) = (places(own), places(english))
    return Set(own.keys).union(english.keys).filter { own[$0] != english[$0] }.sorted()
  }

  // Proves C63, P45
  @Test(arguments: forms.keys.sorted()) func `each language has a name for each emoji of verifications`(language: String) throws
  {
    let names = try #require(try Self.texts(language).first { $0.name == "sasNames" }).words.components(separatedBy: ", ")
    #expect(names.count == 64 && Set(names).count == 64 && !names.contains(""))
  }

  @Test("every text is there in every language, with the same places for what is filled in", arguments: forms.keys.sorted())
  func complete(_ language: String) throws {
    let (own, english) = (try Self.texts(language), try Self.texts("en"))
    #expect(own.map(\.name) == Strings.Key.allCases.map { "\($0)" })
    #expect(Self.differences(own, english) == [])
    for (own, english) in zip(own, english) {
      #expect(!own.words.isEmpty && own.words == own.words.trimmingCharacters(in: .whitespaces), "\(own.name)")
      let forms = own.words.split(separator: "|", omittingEmptySubsequences: false)
      #expect(forms.count == (english.words.contains("|") ? Self.forms[language] : 1), "\(own.name)")
      for form in forms { #expect(Set(Self.places(in: form)).isSubset(of: Self.places(in: english.words)), "\(own.name)") }
      #expect(!own.words.contains(/\{[^0-2]|\{.[^}]/), "\(own.name)")
    }
  }

  // Proves C63
  @Test("a text that a language lacks, has too much or has with another place is found")
  func compared() throws {
    let english = [("a", "x"), ("b", "{0}")]
    #expect(Self.differences(english, english).isEmpty)
    #expect(Self.differences([("a", "x")], english) == ["b"])
    #expect(Self.differences(english + [("c", "z")], english) == ["c"])
    #expect(Self.differences([("a", "x {0}"), ("b", "{1}")], english) == ["a", "b"])
  }

  // Proves B21
  @Test("a page in a language from right to left keeps what is filled in apart")
  func isolated() {
    let table = StringTable("a = دعا {0} {1}", isRightToLeft: true)
    #expect(table.words(0, ["Ana", "Bo"]) == "دعا \u{2068}Ana\u{2069} \u{2068}Bo\u{2069}")
    // Nothing else says which way the line goes.
    let labelled = StringTable("a = {0}: {1}", isRightToLeft: true)
    #expect(labelled.words(0, ["طلب", "أُلغي"]) == "\u{200F}\u{2068}طلب\u{2069}: \u{2068}أُلغي\u{2069}")
  }

  @Test("languages are offered by their own names, first what the browser would choose")
  func languages() {
    let options = LanguageChoice<FakeDOM>.options("\tDeutsch\nen\tEnglish\nar\tالعربية\nodd")
    #expect(options.map(\.value) == ["", "en", "ar"])
    #expect(options.map(\.words) == ["browserLanguage Deutsch", "English", "العربية"])
  }

  @Test("the page offers every language that there is a file of, and keeps it for the time without a network")
  func offered() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.web.path).filter { $0.hasPrefix("texts.") }
    #expect(Set(files) == Set(Self.forms.keys.map { "texts.\($0).txt" }))
    for page in ["index.html", "messenger.html"] {
      let offered = try #require(try Self.file(page).firstMatch(of: /data-languages="([^"]*)"/)).1.split(separator: " ")
      #expect(Set(offered.map(String.init)) == Set(Self.forms.keys))
    }
    let worker = try Self.file("sw.js")
    for file in files { #expect(worker.contains("'\(file)'")) }
  }

  @Test("the program finds each text where the file has it")
  func found() throws {
    let table = StringTable(try Self.file("texts.de.txt"))
    #expect(table.count == Strings.Key.allCases.count)
    #expect(table.words(Strings.Key.signIn.rawValue) == "Anmelden")
    #expect(table.words(Strings.Key.unread.rawValue, form: 0, ["1"]) == "1 ungelesene Nachricht")
    #expect(table.words(Strings.Key.unread.rawValue, form: 1, ["7"]) == "7 ungelesene Nachrichten")
    #expect(table.words(Strings.Key.kicked.rawValue, ["Ana", "Bo"]) == "Ana hat Bo entfernt")
  }

  @Test(
    "words are filled in by number, once, and what is wrong in a file breaks nothing",
    arguments: [
      ("a = {1} and {0}", ["x", "y"], "y and x"), ("a = {0}", ["{1}|{0}"], "{1}|{0}"), ("a = {2}{x}{", ["x"], "{"),
      ("# a = no\n\nnothing\na = yes", [], "yes"), ("a = |", [], "|"), ("", [], ""), ("a =", [], "")
    ])
  func filled(_ file: String, _ arguments: [String], _ words: String) {
    #expect(StringTable(file).words(0, arguments) == words)
  }

  @Test("a form that is not there is the last")
  func lastForm() {
    let table = StringTable("a = one|few|other")
    #expect((0...5).map { table.words(0, form: $0) } == ["one", "few", "other", "other", "other", "other"])
  }

  // Proves J45
  @Test(
    "people stand for a room without a name",
    arguments: [
      (RoomName.text("Garden"), "Garden"), (.members(["Ana"], others: 0), "Ana"), (.empty(formerly: []), "emptyRoom"),
      (.members(["Ana", "Bo"], others: 0), "listedLast Ana Bo"),
      (.members(["Ana", "Bo"], others: 3), "listedLast listed Ana Bo others 3"),
      (.empty(formerly: ["Ana"]), "emptyRoomOf Ana")
    ])
  func roomNames(_ name: RoomName, _ words: String) {
    #expect(Strings.words(for: name) == words)
  }

  // Proves J30
  @Test(
    "a line says who did what, and why",
    arguments: [
      (StateChange.joined(UserID(trusted: "@b:x")), "joined B"), (.roomNamed(nil), "roomNameRemoved A"),
      (.roomNamed("Garden"), "roomNamed A Garden"),
      (.kicked(UserID(trusted: "@b:x"), reason: "Spam"), "because kicked A B Spam"),
      (.left(UserID(trusted: "@b:x"), reason: ""), "leftRoom B"), (.joinRuleSet("knock"), "joinKnock A"),
      (.pinnedEventsChanged(pinned: [EventID(trusted: "$a")], unpinned: []), "pinned A")
    ])
  func lines(_ change: StateChange, _ words: String) {
    #expect(Strings.words(for: change, by: "A") { _ in "B" } == words)
  }
}
