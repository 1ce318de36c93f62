import JSON
import Testing

@testable import EventContent

@Suite struct FoldedTextTests {
  private static func fold(_ text: String) -> String {
    String(String.UnicodeScalarView(FoldedText(ByteString(text)).scalars.compactMap { Unicode.Scalar($0) }))
  }

  @Test(arguments: [
    ("Tea", "tea"), ("CRÈME BRÛLÉE", "creme brulee"), ("Straße", "strasse"), ("ẞ", "ss"), ("Ærø", "aero"),
    ("Œuvre", "oeuvre"), ("Þór", "thor"), ("Łódź", "lodz"), ("İstanbul", "istanbul"), ("Đặng Thị", "dang thi"),
    ("e\u{301}", "e"), ("Ελλάς", "ελλασ"), ("ΆΈΉΊΌΎΏΪΫ", "αεηιουωιυ"), ("Йод Ёлка Київ", "иод елка киів"),
    ("Ѐѝ", "еи"), ("ＡＢＣ１", "abc1"), ("Երևան", "երևան"), ("ԵՐԵՎԱՆ", "երեվան"), ("日本", "日本"), ("🎉 x", "🎉 x"),
    ("ǅ", "ǅ"), ("×÷", "×÷"), ("", "")
  ])
  func `case and diacritics are folded`(text: String, expected: String) {
    #expect(Self.fold(text) == expected)
  }

  @Test func `what is folded stays so`() {
    for value in UInt32(0x20)..<0x3000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let once = Self.fold(String(String.UnicodeScalarView([scalar])))
      #expect(Self.fold(once) == once, "U+\(String(value, radix: 16))")
    }
  }

  @Test(arguments: [
    ("Tea party", "tea", FoldedText.Match.wordPrefix), ("Tea party", "PAR", .wordPrefix), ("Tea party", "a p", .substring),
    ("Tea party", "art", .substring), ("Tea party", "tpy", .subsequence), ("Tea party", "yt", nil),
    ("Tea party", "  tea ", .wordPrefix), ("Tea party", "", .wordPrefix), ("#ops", "ops", .wordPrefix),
    ("re-invent", "inv", .wordPrefix), ("Straßenbahn", "strassen", .wordPrefix), ("Čaj", "caj", .wordPrefix),
    ("Москва", "оск", .substring), ("Москва", "мква", .subsequence), ("banana nap", "nap", .wordPrefix),
    ("aab", "ab", .substring), ("a", "aa", nil), ("", "x", nil)
  ])
  func `the beginning of a word is better than what stands within one, and that than characters in order`(
    name: String, term: String, expected: FoldedText.Match?
  ) {
    #expect(FoldedText(ByteString(name)).match(FoldedText(term: ByteString(term))) == expected)
  }

  @Test func `only the beginning of a long name counts`() {
    let long = ByteString(String(repeating: "a", count: ContentLimits.foldedCharacters) + "b")
    #expect(FoldedText(long).scalars.count == ContentLimits.foldedCharacters)
    #expect(FoldedText(long).match(FoldedText("b")) == nil)
    let fits = ByteString(String(repeating: "a", count: ContentLimits.foldedCharacters - 1) + "b")
    #expect(FoldedText(fits).match(FoldedText("b")) == .substring)
  }
}
