import Testing

@testable import ServerMedia

/// Pages of strangers: what is read of them, and how much is looked at.
@Suite struct HTMLPageTests {
  private static let meta = #"<meta property="og:title" content="found">"#

  private func title(_ page: String) -> String? { title(Array(page.utf8)) }

  private func title(_ bytes: [UInt8], charset: String? = nil) -> String? {
    HTMLPage(bytes, charset: charset).map { PageSummary($0) }?.properties.first { $0.name == "og:title" }?.value
  }

  // MARK: Reading

  @Test(
    arguments: [
      ("<title>a &amp; b &#60;&#x3E; &eacute; &nothing; &#0; &</title>", "a & b <> é &nothing; \u{FFFD} &"),
      ("<!-- <title>no</title> --><TITLE >yes</TITLE>", "yes"),
      ("<!--><title>yes</title>", "yes"),
      ("<!--x--!><title>yes</title>", "yes"),
      (#"<script>"<title>no</title>"</script><title>a<b>c</title>"#, "a<b>c"),
      (#"<meta property='og:title' content=yes><title>no"#, "yes"),
      (#"<META Content = "a > b" PROPERTY=og:title>"#, "a > b"),
      (#"<meta property="og:title" property="no" content="first" content="second"/>"#, "first"),
      ("<svg><title>no</title></svg><h1>yes</h1>", "yes"),
      ("<head><title>in the head</title></head><body><title>no</title>", "in the head"),
      ("1 < 2 <title>yes</title>", "yes"),
      ("<title>open to the end", "open to the end"),
      ("<title", nil), ("<", nil), ("</", nil), ("<!--", nil), ("<a b='", nil), ("<!", nil)
    ] as [(String, String?)])
  func `broken pages say what browsers read in them`(page: String, title: String?) {
    #expect(self.title(page) == title)
  }

  @Test(arguments: [
    ("<title>t</title><p>Words.", "Words."),
    ("<html><head><title>t</title><p>Words.", "Words."),
    ("<html><head><meta name=x content=y>Words.", "Words."),
    ("<html><head></head><body><nav><p>no</nav><p>One<p>two<li>three</body>", "One two three"),
    ("<body><footer>no<br>no</footer><style>no</style>Words.", "Words.")
  ])
  func `an excerpt is the words of a page`(page: String, excerpt: String) {
    let summary = HTMLPage(Array(page.utf8), charset: nil).map { PageSummary($0) }
    #expect(summary?.properties.first { $0.name == "og:description" }?.value == excerpt)
  }

  @Test func `a page is read in the characters it is written in`() throws {
    var sixteen: [UInt8] = [0xFF, 0xFE]
    for unit in "<title>é€</title>".utf16 { sixteen += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
    #expect(title(sixteen) == "é€")
    #expect(title([0xEF, 0xBB, 0xBF] + Array("<title>é".utf8), charset: "iso-8859-1") == "é")
    #expect(title(Array("<title>".utf8) + [0x82, 0xA0], charset: "shift_jis") == "あ")
    #expect(title(Array("<title>".utf8) + [0x80]) == "€")
    // Bytes that are no characters in an encoding do not end the page.
    #expect(title(Array("<title>a".utf8) + [0xA0, 0xFF, 0x20] + Array("b".utf8), charset: "euc-jp")?.hasSuffix("b") == true)
    #expect(title(Array("<title>plain".utf8), charset: "no-such-thing") == "plain")
    #expect(title(Array("+ADw-title+AD4-x".utf8), charset: "utf-7") == "x")
  }

  // MARK: Limits

  @Test(arguments: [(HTMLPage.bytesLimit, true), (HTMLPage.bytesLimit + 1, false)])
  func `a page has at most so many bytes`(count: Int, isRead: Bool) {
    let page = Array(Self.meta.utf8) + [UInt8](repeating: 0x20, count: count - Self.meta.utf8.count)
    #expect((title(page) != nil) == isRead)
  }

  @Test(arguments: [(HTMLPage.tagsLimit - 1, true), (HTMLPage.tagsLimit, false)])
  func `so many tags of a page are looked at`(before: Int, isFound: Bool) {
    for filler in ["<br>", "</x>", "<!---->"] {
      #expect((title(String(repeating: filler, count: before) + Self.meta) != nil) == isFound)
    }
  }

  @Test(arguments: [(HTMLPage.depthLimit, true), (HTMLPage.depthLimit + 1, false)])
  func `a page is looked at down to so many elements inside each other`(depth: Int, isFound: Bool) {
    let page = String(repeating: "<div>", count: depth) + Self.meta
    #expect((title(page) != nil) == isFound)
    #expect((title(String(repeating: "<div>", count: depth * 10).replacing("<div>", with: "<div></div>") + Self.meta) != nil))
  }

  @Test(arguments: [(HTMLPage.attributesLimit - 2, true), (HTMLPage.attributesLimit - 1, false)])
  func `so many attributes of a tag are looked at`(before: Int, isFound: Bool) {
    let others = (0..<before).map { "a\($0)=b" }.joined(separator: " ")
    #expect((title("<meta property=og:title \(others) content=found>") != nil) == isFound)
  }

  /// Each would be dear as a tree, or by comparing everything with everything before it.
  @Test(arguments: [
    "deep", "attributes", "distinct attributes", "second roots", "text", "references", "value", "comments", "titles",
    "unclosed quote", "ends that close nothing"
  ])
  func `of a hostile page a bounded part is looked at, in pieces of bounded size`(kind: String) throws {
    func filled(_ piece: (Int) -> String, begin: String = "", end: String = "") -> [UInt8] {
      var page = Array(begin.utf8)
      var number = 0
      while page.count < HTMLPage.bytesLimit - 64 {
        page += Array(piece(number).utf8)
        number += 1
      }
      return page.prefix(HTMLPage.bytesLimit - 64) + Array(end.utf8)
    }
    let page: [UInt8] =
      switch kind {
      case "deep": filled { _ in "<b>" }
      case "attributes": filled({ _ in "a " }, begin: "<p ", end: ">")
      case "distinct attributes": filled({ "a\($0)=''" }, begin: "<p ", end: ">")
      case "second roots": filled { "<html a\($0)>" }
      case "text": filled({ _ in "word " }, begin: "<p>")
      case "references": filled({ _ in "&lt;" }, begin: "<title>")
      case "value": filled({ _ in "&amp;" }, begin: #"<meta property="og:title" content=""#, end: #"">"#)
      case "comments": filled { _ in "<!--x-->" }
      case "titles": filled { _ in "<title>x</title>" }
      case "unclosed quote": filled({ _ in "<p a=b>" }, begin: "<p a='")
      default: filled({ "</e\($0 % 1000)>" }, begin: String(repeating: "<div>", count: HTMLPage.depthLimit - 1))
      }
    let parsed = try #require(HTMLPage(page, charset: nil))
    var parts = 0
    let extent = parsed.forEach { part in
      parts += 1
      switch part {
      case .element(let element):
        for name in ["a", "content"] as [StaticString] {
          #expect(element.attribute(name)?.utf8.count ?? 0 <= HTMLPage.textBytesLimit)
        }
        #expect(element.name.utf8.count <= 32)
      case .text(let text, let inside):
        #expect(text.utf8.count <= HTMLPage.textBytesLimit && inside.count <= HTMLPage.depthLimit)
      }
      return true
    }
    #expect(extent.tags <= HTMLPage.tagsLimit && extent.depth <= HTMLPage.depthLimit && extent.bytes <= page.count)
    #expect(parts <= 2 * HTMLPage.tagsLimit + 1)
    let summary = PageSummary(parsed)
    #expect(summary.properties.allSatisfy { $0.value.utf8.count <= PageSummary.valueBytesLimit })
  }

  @Test func `what grows when it is put into UTF-8 is cut`() throws {
    // Half a million characters of three bytes each.
    let page = [0xFE, 0xFF] + [UInt8](repeating: 0x30, count: HTMLPage.bytesLimit - 2)
    let extent = try #require(HTMLPage(page, charset: nil)).forEach { _ in true }
    #expect(extent.bytes > HTMLPage.bytesLimit - 4 && extent.bytes <= HTMLPage.bytesLimit)
  }
}
