import JSON
import MatrixModel
import Testing
import TimeTesting

@testable import EventContent

@Suite struct MarkdownTests {
  // Proves C39, P9
  @Test(arguments: [
    ("*a* _b_ **c** __d__ ***e***", "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <em><strong>e</strong></em>"),
    ("a **b *c* d** e", "a <strong>b <em>c</em> d</strong> e"),
    ("*a **b* c**", "<em>a <em><em>b</em> c</em></em>"),
    ("~~gone~~ ||hidden||", "<del>gone</del> <span data-mx-spoiler>hidden</span>"),
    ("`a < *b*` ``c ` d``", "<code>a &lt; *b*</code> <code>c ` d</code>"),
    ("[text](https://a.org/x_y)", "<a href=\"https://a.org/x_y\">text</a>"),
    ("[*a*](<https://a.org/b c> \"title\")", "<a href=\"https://a.org/b c\"><em>a</em></a>"),
    ("[a](https://a.org/(b)c)", "<a href=\"https://a.org/(b)c\">a</a>"),
    (
      "[a [b](https://a.org) c](https://b.org)",
      "[a <a href=\"https://a.org\">b</a> c](<a href=\"https://b.org\">https://b.org</a>)"
    ),
    ("*a [b* c](https://a.org)", "*a <a href=\"https://a.org\">b* c</a>"),
    ("[https://b.org](https://a.org)", "<a href=\"https://a.org\">https://b.org</a>"),
    (
      "see https://a.org/x_y_z, or (http://b.org).",
      "see <a href=\"https://a.org/x_y_z\">https://a.org/x_y_z</a>, or (<a href=\"http://b.org\">http://b.org</a>)."
    ),
    ("<https://a.org> <me@a.org>", "<a href=\"https://a.org\">https://a.org</a> <a href=\"mailto:me@a.org\">me@a.org</a>"),
    ("# One\n### Three ###\ntext", "<h1>One</h1><h3>Three</h3>text"),
    ("> said\n> more\n\nanswer", "<blockquote><p>said<br>more</p></blockquote><p>answer</p>"),
    ("> > twice", "<blockquote><blockquote><p>twice</p></blockquote></blockquote>"),
    ("- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"),
    ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
    ("7) a", "<ol start=\"7\"><li>a</li></ol>"),
    ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
    ("text\n- a", "text<ul><li>a</li></ul>"),
    (
      "```swift\nlet a = \"<b>\"\n\n  *x*\n```\nafter",
      "<pre><code class=\"language-swift\">let a = &quot;&lt;b&gt;&quot;\n\n  *x*\n</code></pre><p>after</p>"
    ),
    ("~~~\nnever closed", "<pre><code>never closed\n</code></pre>"),
    ("**a**\nb\\\nc", "<strong>a</strong><br>b<br>c"),
    ("*a*\n\nb", "<p><em>a</em></p><p>b</p>"),
    ("---\n*x*", "<hr><em>x</em>"),
    ("\\*a\\*", "*a*"),
    ("<b>*a*</b>", "&lt;b&gt;<em>a</em>&lt;/b&gt;"),
    ("a_b_c *x*", "a_b_c <em>x</em>"),
    ("2 * 3 * 4 *x*", "2 * 3 * 4 <em>x</em>"),
    ("a || b || c *x*", "a || b || c <em>x</em>")
  ]) func `what a person writes becomes HTML`(source: String, html: String) {
    let text = FormattedText.markdown(ByteString(source))
    #expect(text.html?.string == html)
    // Nothing in it is for the sanitizer to take away.
    #expect(HTML.sanitize(ByteString(html), for: .sending).string == html)
  }

  @Test(arguments: [
    "plain", "two\nlines", "two\n\nparagraphs", "1 < 2 & 3", "a * b", "snake_case_name", "#hash", "[x]", "[x](y)",
    "[x](javascript:y)",
    "~one~", "a | b || c", "", "   ", "https", "1986 was good", "*", "**", "`", "@", "<b>"
  ]) func `what needs no HTML has none`(source: String) {
    let text = FormattedText.markdown(ByteString(source))
    #expect(text.html == nil)
    #expect(text.body.string == source)
  }

  // Proves P10
  @Test(arguments: [
    ("hi :cat:!", "hi IMG!"), (":cat::cat:", "IMGIMG"), ("**:cat:** and *a*:cat:", "<strong>IMG</strong> and <em>a</em>IMG"),
    ("`:cat:`", "<code>:cat:</code>"), ("# :cat:", "<h1>IMG</h1>"), ("> :cat:", "<blockquote><p>IMG</p></blockquote>"),
    ("[:cat:](https://a.org)", "<a href=\"https://a.org\">IMG</a>"), ("\\:cat: *x*", ":cat: <em>x</em>"),
    ("*10:cat:30*", "<em>10:cat:30</em>"), ("*:dog: : :: :cat*", "<em>:dog: : :: :cat</em>"), ("猫:cat:", "猫IMG"),
    ("https://a.org/:cat:", "<a href=\"https://a.org/:cat\">https://a.org/:cat</a>:"), ("*:a\nb:*", "<em>:a<br>b:</em>")
  ]) func `the names of pictures become pictures, the body keeps them`(source: String, html: String) {
    let image = "<img data-mx-emoticon src=\"mxc://t/cat\" alt=\":cat:\" title=\":cat:\" height=\"32\">"
    let text = FormattedText.markdown(ByteString(source)) { $0 == "cat" ? MediaURI("mxc://t/cat") : nil }
    let wanted = html.split(separator: "IMG", omittingEmptySubsequences: false).joined(separator: image)
    #expect(text.html?.string == wanted)
    #expect(text.body.string == source)
    #expect(HTML.sanitize(ByteString(wanted), for: .sending).string == wanted)
  }

  @Test func `the name of a picture is escaped, and as long as a name may be`() {
    let any: (ByteString) -> MediaURI? = { _ in MediaURI("mxc://t/x") }
    let html = FormattedText.markdown(":\"><script>:", emoticon: any).html
    #expect(
      html?.string
        == "<img data-mx-emoticon src=\"mxc://t/x\" alt=\":&quot;&gt;&lt;script&gt;:\" title=\":&quot;&gt;&lt;script&gt;:\" height=\"32\">"
    )
    let name = String(repeating: "x", count: ContentLimits.shortcodeBytes)
    #expect(FormattedText.markdown(ByteString(":" + name + ":"), emoticon: any).html != nil)
    #expect(FormattedText.markdown(ByteString(":x" + name + ":"), emoticon: any).html == nil)
  }

  // Proves P7
  @Test func `links to users and user IDs are mentions, and the body shows their names`() {
    let text = FormattedText.markdown("Hi [Alice](https://matrix.to/#/@alice:test), @bob:test.org and @room!")
    #expect(text.body == "Hi Alice, @bob:test.org and @room!")
    #expect(text.mentions.users.map(\.string) == ["@alice:test", "@bob:test.org"])
    #expect(text.mentions.room)
    #expect(
      text.html?.string
        == "Hi <a href=\"https://matrix.to/#/@alice:test\">Alice</a>, <a href=\"https://matrix.to/#/%40bob%3Atest.org\">@bob:test.org</a> and @room!"
    )
  }

  @Test func `code mentions nobody`() {
    let text = FormattedText.markdown("`@room @alice:test` me@room.org user@alice:test @rooms")
    #expect(text.mentions.isEmpty)
  }

  @Test func `rooms are linked`() {
    let text = FormattedText.markdown("in #tea:test.")
    #expect(text.html?.string == "in <a href=\"https://matrix.to/#/%23tea%3Atest\">#tea:test</a>.")
    #expect(text.mentions.isEmpty)
  }

  @Test func `the body does not give hidden text away`() {
    let text = FormattedText.markdown("> Alice ||dies\n> twice||, [Bob](https://matrix.to/#/@bob:test)")
    #expect(text.body == "> Alice [Spoiler], Bob")
  }

  @Test func `the user's own HTML is sanitized and mentions the users it links to`() {
    let text = FormattedText.html("<a href=\"https://matrix.to/#/@alice:test\">Alice</a><script>x</script> &amp; <b>you</b>")
    #expect(text.body == "Alice & you")
    #expect(text.html == "<a href=\"https://matrix.to/#/@alice:test\">Alice</a> &amp; <b>you</b>")
    #expect(text.mentions.users.map(\.string) == ["@alice:test"])
  }

  // Proves C74
  @Test(arguments: [
    "*", "**a", "*a_", "a*", "_a", "**a*", "[", "]", "[](", "[a](b", "<", ">", "> ", "- ", "-\n", "1. a\n", "`", "`a", "``a`",
    "~~a", "||a",
    "\\", "<a", "h", "https://", "http://(", "http://)", "@a:b", "@", "#", "# ", "\n", "\n\n", " ", "```\n", "> - ", "- a\n  ",
    "[a](https://a.org)", "*[a*](https://a.org)",
    "!", "|", "a||b", "*a **b ", "@a:", "#a:b "
  ]) func `64 KiB of anything takes little time and is safe`(part: String) {
    for source in [
      String(repeating: part, count: 65_536 / part.utf8.count),
      "a" + String(repeating: part, count: 8_192 / part.utf8.count) + "b"
    ] {
      let time = processorTime {
        let text = FormattedText.markdown(ByteString(source))
        guard let html = text.html else { return }
        #expect(html.count <= source.utf8.count * 14 + 2_000)
        // Beyond that the sanitizer cuts.
        guard html.count <= ContentLimits.htmlBytes else { return }
        #expect(HTML.sanitize(html, for: .sending) == html)
      }
      #expect(time < .seconds(20))
    }
  }
}
