public import JSON
import MatrixModel

/// The text that a person writes: plain, as HTML if it has a format, and the users it mentions.
public struct FormattedText: Sendable {
  public var body: ByteString
  /// nil where the body says it all. Safe: what made it is `HTML.sanitize` or `markdown`.
  public private(set) var html: ByteString?
  public var mentions: Mentions
  /// Addresses in it of which nobody shall be shown a preview.
  public var unpreviewed: [ByteString] = []

  /// Nothing in the text means anything but itself.
  public init(_ body: ByteString, mentions: Mentions = Mentions()) {
    self.body = body
    self.mentions = mentions
  }

  /// The part of CommonMark that chat uses: emphasis, `~~`struck`~~`, `||`hidden`||`, code, fenced code, links, headings, quotes,
  /// lists, lines. User IDs, aliases, `@room` and links to users become mentions. O(bytes).
  /// - Parameter emoticon: the picture that `:name:` stands for; nil if no picture has that name.
  public static func markdown(
    _ source: ByteString, mentions: Mentions = Mentions(), emoticon: @escaping (ByteString) -> MediaURI? = { _ in nil }
  ) -> FormattedText {
    var renderer = MarkdownRenderer(Array(source.utf8.prefix(ContentLimits.htmlBytes)), emoticon)
    renderer.run()
    var text = FormattedText(ByteString(decoding: renderer.body), mentions: mentions)
    text.mentions.formUnion(renderer.mentions)
    if renderer.hasMarkup { text.html = ByteString(decoding: renderer.out) }
    return text
  }

  /// - Parameter body: what clients without HTML show; nil takes the text in the HTML.
  public static func html(_ source: ByteString, body: ByteString? = nil, mentions: Mentions = Mentions()) -> FormattedText {
    let (html, linked) = HTML.sanitizeForSending(source)
    var text = FormattedText(body ?? HTML.plainText(html), mentions: mentions)
    for user in linked { text.mentions.add(user) }
    text.html = html
    return text
  }

  /// `body`, `format`, `formatted_body`, `martlet.no_preview`; the mentions are written where the event has them.
  package func writeMembers(to writer: inout JSONWriter, prefix: ByteString = "") {
    writer.member("body", ByteString(prefix.string + body.string))
    if !unpreviewed.isEmpty {
      writer.key("martlet.no_preview")
      writer.array { writer in for url in unpreviewed { writer.write(url) } }
    }
    guard let html else { return }
    writer.member("format", "org.matrix.custom.html")
    writer.member("formatted_body", ByteString(prefix.string + html.string))
  }
}
