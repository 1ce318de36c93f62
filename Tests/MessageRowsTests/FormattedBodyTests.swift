import JSON
import MatrixModel
import Messenger
import Testing

@testable import MessageRows

@Suite("Formatted messages")
struct FormattedBodyTests {
  private func read(_ html: String) -> String {
    var body = FormattedBody(ByteString(html)) { link in
      guard case .user(let user) = link.target else { return nil }
      return Mention(id: user.string, name: "<" + user.string + ">")
    } picture: {
      $0.string
    }
    return body.read().blocks.map(text).joined(separator: "/")
  }

  private func text(_ block: RichBlock) -> String {
    switch block {
    case .paragraph(let spans): "p(" + text(spans) + ")"
    case .heading(let level, let spans): "h\(level)(" + text(spans) + ")"
    case .code(let code, let language): "code[\(language)](" + code + ")"
    case .quote(let blocks): "quote(" + blocks.map(text).joined(separator: "/") + ")"
    case .list(let start, let items):
      (start.map { "ol\($0)(" } ?? "ul(") + items.map { $0.map(text).joined(separator: "/") }.joined(separator: ";") + ")"
    case .table(let head, let rows):
      "table(" + head.map(text).joined(separator: "|") + ":"
        + rows.map { $0.map(text).joined(separator: "|") }.joined(separator: ";") + ")"
    case .rule: "rule"
    }
  }

  private func text(_ spans: [RichSpan]) -> String { spans.map(text).joined() }

  private func text(_ span: RichSpan) -> String {
    switch span {
    case .text(let text): text
    case .styled(let style, let inner): "\(style){" + text(inner) + "}"
    case .link(let url, let inner): "a[\(url)]{" + text(inner) + "}"
    case .mention(let mention): "@{" + mention.name + "}"
    case .spoiler(let reason, let inner): "spoiler[\(reason)]{" + text(inner) + "}"
    case .emoji(let name, let source): "img[\(name),\(source ?? "")]"
    case .lineBreak: "⏎"
    }
  }

  // Proves C39
  @Test(
    "what messages may have is a tree of it",
    arguments: [
      ("<b>a</b> and <em>b <u>c</u></em>", "p(bold{a} and italic{b underline{c}})"),
      ("<p>one\n  two</p><p>three<br>four<br></p>", "p(one two)/p(three⏎four)"),
      ("<h1>A</h1>b<h6>C</h6>", "h1(A)/p(b)/h6(C)"),
      ("<pre><code class=\"language-swift\">let a = 1\n  &lt;b&gt;\n</code></pre>", "code[swift](let a = 1\n  <b>)"),
      ("a <code>b</code>", "p(a code{b})"),
      ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>c", "quote(p(a)/quote(p(b)))/p(c)"),
      ("<ol start=3><li>a</li><li><p>b</p><ul><li>c</ul></ol>", "ol3(p(a);p(b)/ul(p(c)))"),
      ("<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td><p>2</p>3</table>", "table(a|b:1|2⏎3)"),
      ("a<hr>b", "p(a)/rule/p(b)"),
      ("<a href=\"https://a.example/?x=1&amp;y\">b <i>c</i></a>", "p(a[https://a.example/?x=1&y]{b italic{c}})"),
      ("<a href=\"https://matrix.to/#/@bob:b.example\">Alice</a>!", "p(@{<@bob:b.example>}!)"),
      ("<span data-mx-spoiler=\"plot\">he <p>dies</p></span> ok", "p(spoiler[plot]{he ⏎dies} ok)"),
      ("<img src=\"mxc://a.example/b\" alt=\":cat:\">", "p(img[:cat:,mxc://a.example/b])"),
      ("<mx-reply><blockquote>old</blockquote></mx-reply>new", "p(new)"),
      ("<font color=red><p>a</p></font>", "p(a)"), ("<b>a<p>b</p>c</b>", "p(bold{a})/p(b)/p(c)"), ("", ""), ("  <p> </p>", "")
    ])
  func tree(_ html: String, _ wanted: String) {
    #expect(read(html) == wanted)
  }

  // Proves C71
  @Test(
    "what they may not have does nothing, and its text stays",
    arguments: [
      ("<script>alert(1)</script>a", "p(a)"), ("<style>*{}</style><iframe src=x>b</iframe>a", "p(a)"),
      ("<a href=\"javascript:alert(1)\">a</a>", "p(a[]{a})"), ("<a href=\"data:text/html,x\">a</a>", "p(a[]{a})"),
      ("<img src=\"https://evil.example/x.png\" onerror=alert(1) alt=pic>", "p(pic)"),
      ("<img data-mx-emoticon src=\"javascript:alert(1)\" alt=\":a:\" onload=x>", "p(:a:)"),
      ("<b onclick=alert(1) style=\"position:fixed\">a</b>", "p(bold{a})"), ("<marquee>a</marquee><object>b</object>", "p(ab)"),
      ("</p></div></b>a<td>b</td><li>c<tr><td>d", "p(a)/p(b)/p(c)/table(:d)"), ("&lt;b&gt;a&lt;/b&gt;", "p(<b>a</b>)"),
      ("a<b", "p(a<b)"), ("<svg><path onload=alert(1)></svg>a", "p(a)")
    ])
  func hostile(_ html: String, _ wanted: String) {
    #expect(read(html) == wanted)
  }

  // Proves P10
  @Test("of a thousand pictures a hundred are shown, of the others their names")
  func pictures() {
    let picture = "<img data-mx-emoticon src=\"mxc://a.example/b\" alt=\":b:\" height=\"9999\">"
    let shown = read(String(repeating: picture, count: 1_000))
    #expect(shown.ranges(of: "img[").count == 100 && shown.ranges(of: ":b:").count == 1_000)
  }

  @Test("a tower of elements stops growing, its text is there, and it is read in no time")
  func tower() {
    for tag in ["b", "blockquote", "ul><li", "span data-mx-spoiler", "table><tr><td"] {
      let html = String(repeating: "<" + tag + ">", count: 10_000) + "deep"
      #expect(read(html).contains("deep"))
    }
    #expect(read(String(repeating: "<p>a</p></b>", count: 5_000)).hasPrefix("p(a)/p(a)"))
  }

  @Test("every cut of a message is read")
  func truncated() {
    let html = Array("<p>a <a href=\"https://x.example\">b</a></p><table><tr><td>&amp;c</table><pre><code>d</code></pre>".utf8)
    for end in html.indices { _ = read(String(decoding: html[..<end], as: UTF8.self)) }
  }
}
