import EventContent
import JSON
import Testing

@Suite("Text of previews")
struct PreviewTextTests {
  @Test(
    "A preview reads as the message does when it is shown, in one line",
    arguments: [
      ("**Do we** still?", "<strong>Do we</strong> still?", "Do we still?"),
      ("* one\n* two", "<ul><li>one</li><li>two</li></ul>", "- one - two"),
      ("a\n\n  b\t", nil, "a b"),
      ("secret", "<span data-mx-spoiler>secret</span>", "[Spoiler]"),
      ("> <@a:b> old\n\nnew", "<mx-reply><blockquote>old</blockquote></mx-reply>new", "new"),
      ("5 < 6", "5 &lt; 6", "5 < 6"), ("x", "", "x"), ("", nil, "")
    ] as [(String, String?, String)])
  func text(body: String, html: String?, expected: String) {
    let content = MessageContent(kind: .text, body: ByteString(body), formattedBody: html.map { ByteString($0) })
    #expect(content.previewText.string == expected)
  }

  @Test("Of a long text only the beginning is read, and a letter that is cut through does no harm")
  func long() {
    let content = MessageContent(
      kind: .text, body: "", formattedBody: ByteString("<b>" + String(repeating: "ü", count: 100_000)))
    #expect(content.previewText.count <= 4_000 && content.previewText.string.hasPrefix("üüü"))
  }
}
