import JSON
import Testing
import TimeTesting

@testable import EventContent

@Suite struct HTMLTests {
  private func sending(_ html: String) -> String { HTML.sanitize(ByteString(html), for: .sending).string }
  private func shown(_ html: String) -> String { HTML.sanitize(ByteString(html)).string }

  @Test(arguments: [
    ("plain", "plain"),
    ("<b>bold</b> &amp; <i>more</i>", "<b>bold</b> &amp; <i>more</i>"),
    ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
    ("&lt;script&gt;", "&lt;script&gt;"),
    ("<script>alert(1)</script>after", "after"),
    ("<style>b{}</style>x<iframe src=\"https://e.org\">y</iframe>", "x"),
    ("<video><b>kept</b></video>", "<b>kept</b>"),
    ("<b onclick=\"x()\" style=\"font-size:99px\">x</b>", "<b>x</b>"),
    ("<B>upper</B>", "<b>upper</b>"),
    ("<b>never closed", "<b>never closed</b>"),
    ("<b><i>crossed</b></i>", "<b><i>crossed</i></b>"),
    ("never opened</b>", "never opened"),
    ("a<!-- comment <b> -->b", "ab"),
    ("a<!-- without end", "a&lt;!-- without end"),
    ("<b", "&lt;b"),
    ("<p>one<p>two", "<p>one</p><p>two</p>"),
    ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
    ("<a href=\"https://a.org/?x=1&y=2\">l</a>", "<a href=\"https://a.org/?x=1&amp;y=2\">l</a>"),
    ("<a href=\"javascript:alert(1)\">l</a>", "<a>l</a>"),
    ("<a href=\"JavaScript&colon;alert(1)\">l</a>", "<a>l</a>"),
    ("<a href=\"java&#x0A;script:alert(1)\">l</a>", "<a>l</a>"),
    ("<a href=\"/relative\">l</a>", "<a>l</a>"),
    ("<a href=\"data:text/html,x\">l</a>", "<a>l</a>"),
    ("<a href='mailto:a@b.org'>l</a>", "<a href=\"mailto:a@b.org\">l</a>"),
    ("<a href=https://a.org>l</a>", "<a href=\"https://a.org\">l</a>"),
    ("<a href=\"https://a.org\" href=\"javascript:x\">l</a>", "<a href=\"https://a.org\">l</a>"),
    ("<a href=\"https://a.org/&quot;onclick=&quot;x\">l</a>", "<a href=\"https://a.org/&quot;onclick=&quot;x\">l</a>"),
    (
      "<a href=\"https://a.org\"><a href=\"https://b.org\">l</a></a>",
      "<a href=\"https://a.org\"></a><a href=\"https://b.org\">l</a>"
    ),
    (
      "<img src=\"mxc://test/abc\" alt=\"cat\" width=\"20\" onerror=\"x\">",
      "<img src=\"mxc://test/abc\" alt=\"cat\" width=\"20\">"
    ),
    ("<img src=\"https://tracker.org/x.png\">", ""),
    (
      "<img data-mx-emoticon src=\"mxc://test/abc\" alt=\":cat:\" title=\":cat:\" height=\"32\">",
      "<img data-mx-emoticon src=\"mxc://test/abc\" alt=\":cat:\" title=\":cat:\" height=\"32\">"
    ),
    (
      "<img data-mx-emoticon=\"x&quot; onload=&quot;y\" onerror=x style=\"position:fixed\" src=\"mxc://test/abc\" height=\"1000000\" width=\"-1\">",
      "<img data-mx-emoticon src=\"mxc://test/abc\">"
    ),
    ("<img data-mx-emoticon src=\"https://tracker.org/x.png\" alt=\":cat:\">", ""),
    ("<img data-mx-emoticon src=\"javascript:x\">", ""), ("<img data-mx-emoticon src=\"data:image/svg+xml,x\">", ""),
    ("<img data-mx-emoticon src=\"mxc://test/../x\">", ""), ("<b data-mx-emoticon>x</b>", "<b>x</b>"),
    ("<ol start=\"5\"><li>x</li></ol>", "<ol start=\"5\"><li>x</li></ol>"),
    ("<ol start=\"5;x\"></ol>", "<ol></ol>"),
    ("<code class=\"big language-swift\">x</code>", "<code class=\"language-swift\">x</code>"),
    ("<code class=\"big\">x</code>", "<code>x</code>"),
    ("<span data-mx-color=\"#ff0000\" data-mx-bg-color=\"red\">x</span>", "<span data-mx-color=\"#ff0000\">x</span>"),
    ("<span data-mx-spoiler>x</span>", "<span data-mx-spoiler>x</span>"),
    ("<span data-mx-spoiler=\"the end\">x</span>", "<span data-mx-spoiler=\"the end\">x</span>"),
    ("<font color=\"#00ff00\">x</font>", "<span data-mx-color=\"#00ff00\">x</span>"),
    ("<div data-mx-maths=\"x^2\">x</div>", "<div data-mx-maths=\"x^2\">x</div>"),
    ("nul\u{0}bell\u{7}&#0;&#x1F600;&#xD800;&nosuch;", "nulbell\u{FFFD}😀\u{FFFD}&amp;nosuch;"),
    ("<table><tr><td>1<td>2<tr><td>3</table>", "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"),
    ("<br/><hr /><br>", "<br><hr><br>")
  ]) func `what is sent has only what messages may have`(html: String, expected: String) {
    #expect(sending(html) == expected)
    // What was made safe is safe: a second time changes nothing.
    #expect(sending(expected) == expected)
  }

  @Test func `what is shown has links that leave the page alone and no quoted fallback`() {
    #expect(shown("<a href=\"https://a.org\">l</a>") == "<a href=\"https://a.org\" target=\"_blank\" rel=\"noopener\">l</a>")
    #expect(shown("<mx-reply><blockquote>old <mx-reply>x</mx-reply></blockquote></mx-reply>new") == "new")
    #expect(HTML.sanitize("<mx-reply>old</mx-reply>new", for: .display(removesReply: false)) == "oldnew")
  }

  @Test func `elements are nested a hundred deep and no deeper`() {
    let deep = String(repeating: "<b>", count: 100) + "x" + String(repeating: "</b>", count: 100)
    #expect(sending(deep) == deep)
    #expect(sending("<i>" + deep + "</i>") == "<i>" + deep.dropFirst(3).dropLast(4) + "</i>")
  }

  @Test(arguments: [
    ("a<br>b", "a\nb"),
    ("<p>one</p><p>two</p>", "one\n\ntwo"),
    ("  much \n  space ", "much space"),
    ("<ul><li>a</li><li>b<ol start=\"3\"><li>c</li><li>d</li></ol></li></ul>", "- a\n- b\n  3. c\n  4. d"),
    ("<blockquote><p>said</p>again</blockquote>answer", "> said\n\n> again\nanswer"),
    ("<pre><code>let x\n  = 1\n</code></pre>after", "let x\n  = 1\nafter"),
    ("Alice <span data-mx-spoiler>dies</span> twice", "Alice [Spoiler] twice"),
    ("<span data-mx-spoiler=\"the end\">dies<span>!</span></span>.", "[Spoiler for the end]."),
    ("<h1>Title</h1>text", "Title\n\ntext"),
    ("<img src=\"mxc://a/b\" alt=\":cat:\"> hi", ":cat: hi"),
    ("<mx-reply>old</mx-reply>new", "new"),
    ("1 &lt; 2 &amp;&nbsp;so", "1 < 2 &\u{A0}so"),
    ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1\t2\n3"),
    ("a<hr>b", "a\n---\nb")
  ]) func `HTML becomes text`(html: String, expected: String) {
    #expect(HTML.plainText(ByteString(html)).string == expected)
  }

  @Test func `what is beyond the limit is cut off`() {
    let text = ByteString(String(repeating: "x", count: ContentLimits.htmlBytes))
    #expect(HTML.sanitize(text) == text)
    #expect(HTML.sanitize(ByteString(text.string + "yz")) == text)
    #expect(HTML.plainText(ByteString(text.string + "yz")) == text)
  }

  @Test(arguments: [
    "<", ">", "<b>", "</b>", "<b ", "<a href=\"", "<!--", "<!-- -->", "&", "&#", "<p>", "<li>", "<ul><li>", "<b><i></b>",
    "<script>", "</script>", "<mx-reply>", "\"", "<x y='", "<blockquote>", "<td>", "<span data-mx-spoiler>", "<br>"
  ]) func `64 KiB of anything takes little time and stays bounded`(part: String) {
    let text = ByteString(String(repeating: part, count: 65_536 / part.utf8.count))
    let time = processorTime {
      let safe = HTML.sanitize(text)
      #expect(safe.count <= text.count * 12 + 2_000)
      #expect(HTML.plainText(text).count <= text.count * 12 + 2_000)
      // Beyond that the sanitizer cuts.
      if safe.count <= ContentLimits.htmlBytes { #expect(HTML.sanitize(safe) == safe) }
    }
    // Without optimisation and on a busy machine; anything quadratic takes minutes.
    #expect(time < .seconds(20))
  }
}
