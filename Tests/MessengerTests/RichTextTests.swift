import MessengerTesting
import Testing

@testable import Messenger

@Suite("Rich text")
struct RichTextTests {
  func show(_ blocks: [RichBlock], _ actions: ActionSet = .all) -> (screen: Screen, text: FakeElement) {
    let screen = Screen(options: .with(actions))
    return (screen, screen.show(.parts([.rich(RichText(blocks))])).first("mg-rich")!)
  }

  /// The tree as markup, to compare by.
  func outline(_ element: FakeElement) -> String {
    element.children.map { "<\($0.tag)>" + $0.text + outline($0) + "</\($0.tag)>" }.joined()
  }

  @Test("a link that cannot be opened is its text, and what stands before it stays")
  func unsafeLink() {
    let screen = Screen()
    let row = screen.show(
      .parts([
        .rich(
          RichText([.paragraph([.styled(.bold, [.text("big")]), .text(" "), .link(url: "javascript:1", [.text("click")])])]))
      ]))
    #expect(row.tags("strong").map(\.text) == ["big"] && row.allText.contains("click") && row.tags("a").isEmpty)
  }

  // Proves B21
  @Test("Blocks and spans become elements")
  func elements() {
    let text = show([
      .heading(level: 2, [.text("Head")]),
      .paragraph([.text("a "), .styled(.bold, [.text("b "), .styled(.italic, [.text("c")])]), .lineBreak, .text("d")]),
      .quote([.paragraph([.styled(.strike, [.text("old")])])]),
      .list(start: nil, [[.paragraph([.text("x")])], [.paragraph([.styled(.code, [.text("y")])])]]), .rule,
      .table(head: [[.text("h")]], rows: [[[.text("1")]], [[.text("2")]]])
    ]).text
    #expect(
      outline(text)
        == "<p>Head</p><p><span>a </span><strong><span>b </span><em>c</em></strong><br></br><span>d</span></p>"
        + "<blockquote><p><s>old</s></p></blockquote><ul><li><p>x</p></li><li><p><code>y</code></p></li></ul><hr></hr>"
        + "<div><table><tr><th>h</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table></div>")
    #expect(text.children[0].attributes["role"] == "heading" && text.children[0].attributes["aria-level"] == "4")
    #expect(text.tags("blockquote")[0].attributes["dir"] == "auto")
  }

  @Test("An ordered list begins where it says")
  func orderedList() {
    let text = show([.list(start: 7, [[.paragraph([.text("x")])]])]).text
    #expect(text.tags("ol").first?.attributes["start"] == "7")
  }

  // Proves C71
  @Test("Markup in any text stays text")
  func hostile() {
    let markup = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    let text = show([
      .paragraph([.text(markup), .mention(Mention(id: markup, name: markup)), .emoji(name: markup, source: nil)]),
      .code(markup, language: markup), .heading(level: 99, [.text(markup)])
    ]).text
    #expect(text.tags("script").isEmpty)
    #expect(text.tags("img").allSatisfy { $0.attributes["onerror"] == nil })
    #expect(text.tags("code").first?.text == markup)
    #expect(text.first("mg-heading")?.has("mg-heading-6") == true)
  }

  // Proves C72
  @Test(
    "Only addresses that cannot run are links",
    arguments: [
      ("https://example.org", true), ("HTTP://example.org", true), ("mailto:a@b.c", true), ("matrix:u/a:b", true),
      ("tel:+123", true), ("javascript:alert(1)", false), ("JaVaScRiPt:alert(1)", false), (" javascript:x", false),
      ("data:text/html,x", false), ("vbscript:x", false), ("java\nscript:x", false), ("//example.org", false), ("", false),
      ("https", false), ("file:///etc/passwd", false), ("blob:https://x", false)
    ])
  func schemes(url: String, isLink: Bool) {
    let text = show([.paragraph([.link(url: url, [.text("here")]), .text("!")])]).text
    #expect(text.tags("a").map { $0.attributes["href"] } == (isLink ? [url] : []))
    #expect(text.allText == "here!")
    #expect(text.tags("a").allSatisfy { $0.attributes["rel"] == "noopener noreferrer" })
  }

  @Test("A click inside a link opens the link; a link in a link is its text")
  func linkClick() {
    let (screen, text) = show([
      .paragraph([
        .link(url: "https://a.b", [.styled(.bold, [.text("bold")]), .link(url: "https://c.d", [.text("inner https://e.f")])])
      ])
    ])
    #expect(text.tags("a").count == 1)
    screen.click(text.tags("strong")[0])
    #expect(screen.actions.count == 1 && screen.actions[0].contains("https://a.b"))
  }

  // Proves C73
  @Test(
    "A link whose words are the address of another host says where it leads",
    arguments: [
      ("https://evil.example/x", "https://bank.example/login", true), ("https://evil.example", " → https://bank.example", true),
      ("https://bank.example@evil.example", "https://bank.example", true), ("https:evil.example", "http://bank.example", true),
      ("https:evil.example//bank.example/", "https://bank.example/", true),
      ("https:///evil.example", "https://bank.example", true),
      ("https://evil.example\\@bank.example", "https://bank.example", true),
      ("mailto:a@evil.example", "https://bank.example", true),
      ("https://bank.example/login?from=chat", "https://bank.example/login", false),
      ("HTTPS://Bank.example/login", "https://bank.EXAMPLE", false),
      ("https://a.example", "How https://b.example works", false),
      ("https://a.example", "b@c.example", false), ("https://a.example", "press here", false)
    ])
  func deceptiveLink(url: String, words: String, isDeceptive: Bool) {
    let text = show([.paragraph([.link(url: url, [.styled(.bold, [.text(words)])]), .text("!")])]).text
    #expect(text.tags("a").map(\.allText) == [isDeceptive ? url : words])
    #expect(text.tags("a").map { $0.attributes["href"] } == [url])
  }

  @Test("A mention is a pill that can be opened where the host opens it", arguments: [true, false])
  func mention(isOpened: Bool) {
    let (screen, text) = show(
      [.paragraph([.text("hi "), .mention(Mention(id: "@bob:b.c", name: "Bob", isReader: true))])],
      isOpened ? .openMention : [])
    let pill = text.first("mg-pill")!
    #expect(pill.text == "Bob" && pill.has("mg-pill-reader") && pill.tag == (isOpened ? "button" : "span"))
    screen.click(pill)
    #expect(screen.actions.count == (isOpened ? 1 : 0))
  }

  // Proves P9
  @Test("Code can be copied where the host has a clipboard", arguments: [true, false])
  func code(hasClipboard: Bool) throws {
    let (screen, text) = show([.code("let a = 1", language: "swift")], hasClipboard ? .copy : [])
    #expect(text.first("mg-code-language")?.text == "swift")
    guard hasClipboard else { return #expect(text.tags("button").isEmpty) }
    screen.click(try #require(text.tags("button").first))
    #expect(screen.actions[0].contains("let a = 1"))
  }

  @Test("Hidden text is one button until it is shown, by click or key, and is hidden from ears too", arguments: [true, false])
  func spoiler(byKey: Bool) throws {
    let (screen, text) = show([
      .paragraph([.spoiler(reason: "film", [.link(url: "https://a.b", [.text("he dies")])])])
    ])
    let hidden = try #require(text.first("mg-spoiler"))
    #expect(hidden.attributes["role"] == "button" && hidden.attributes["aria-label"]?.contains("film") == true)
    #expect(hidden.children[0].attributes["aria-hidden"] == "true")
    #expect(screen.element(RowID(1))?.attributes["aria-label"]?.contains("he dies") == false)
    if byKey {
      screen.dom.fire(.keyDown, on: hidden.node, text: "Enter")
    } else {
      screen.click(text.tags("a")[0])
    }
    #expect(screen.actions.isEmpty, "what is hidden is not clicked")
    let shown = try #require(screen.element(RowID(1))?.first("mg-revealed"))
    #expect(shown.attributes["role"] == nil && shown.allText == "he dies")
    screen.click(shown.tags("a")[0])
    #expect(screen.actions.count == 1)
    // Also after the row was away.
    screen.timeline.apply([.append((2...300).map { message($0) })])
    screen.timeline.scroll(to: RowID(200))
    screen.timeline.scroll(to: RowID(1))
    #expect(screen.element(RowID(1))?.first("mg-revealed") != nil)
  }

  @Test("What is too deep or too much is shown as its text, and every word is there")
  func limits() {
    var deep = RichBlock.paragraph([.text("core")])
    for _ in 0..<90 { deep = .quote([deep]) }
    #expect(show([deep]).text.allText == "core")
    #expect(show([deep]).text.tags("blockquote").count <= RichText.depthLimit)
    var span = RichSpan.text("core")
    for _ in 0..<90 { span = .styled(.bold, [span]) }
    #expect(show([.paragraph([span])]).text.allText == "core")
    let many = (0..<5000).map { RichBlock.paragraph([.text("p\($0)")]) }
    let (screen, text) = show(many)
    #expect(text.allText.contains("p4999") && text.allText.contains("p0"))
    #expect(screen.dom.liveNodeCount < 3 * RichText.elementsLimit)
    let table = show([.table(head: [], rows: (0..<500).map { [[.text("\($0)")]] })]).text
    #expect(table.tags("tr").count == RichText.tableLimit)
  }

  @Test("A row that leaves takes its text along")
  func released() {
    let screen = Screen(options: .with(.all))
    screen.timeline.load([message(1), message(2)], head: .hidden)
    let before = screen.dom.liveNodeCount
    let row = TimelineRow(
      id: RowID(3), timestampMilliseconds: 0,
      content: .message(
        MessageRow(
          sender: me, body: .parts([.rich(RichText([.paragraph([.text("https://a.b "), .styled(.bold, [.text("b")])])]))]),
          surroundings: Surroundings(reactions: [Reaction(key: "👍", count: 1)]))))
    screen.timeline.apply([.insert([row], before: RowID(1))])
    #expect(screen.dom.liveNodeCount > before + 3)
    screen.timeline.apply([.remove(RowID(3))])
    // The frame waits in the pool.
    #expect(screen.dom.liveNodeCount <= before + 1)
  }

  @Test("An emote of rich text begins with the name")
  func emote() {
    let screen = Screen()
    let element = screen.show(.parts([.rich(RichText([.paragraph([.text("waves")])]))], tone: .emote))
    #expect(element.first("mg-rich")?.allText == "Alice Ay waves" && element.has("mg-emote"))
  }
}
