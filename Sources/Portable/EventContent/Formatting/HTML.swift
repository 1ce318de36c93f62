public import JSON
import MatrixModel

/// The HTML of messages: made safe, and turned into text.
public enum HTML {
  /// What the result is for.
  public enum Purpose: Sendable {
    /// The `formatted_body` of a message that is sent.
    case sending
    /// A page: every link gets `target="_blank" rel="noopener"`. With `removesReply` the `mx-reply` of old replies goes.
    case display(removesReply: Bool)
  }

  /// Only the elements and attributes that messages may have, properly nested, at most 100 deep; everything else is left out or shown
  /// as text. The same goes for what one sends and for what others sent. O(bytes); input beyond 256 KiB is cut off.
  ///
  /// Spec: Client-Server API, "m.room.message msgtypes".
  public static func sanitize(_ html: ByteString, for purpose: Purpose = .display(removesReply: true)) -> ByteString {
    var sanitizer = HTMLSanitizer(HTMLReader(bytes(of: html)), purpose)
    return ByteString(decoding: sanitizer.run())
  }

  /// The text in HTML, with line breaks where elements have them, list items numbered, quotes behind `> ` and hidden parts as
  /// `[Spoiler]`. O(bytes).
  public static func plainText(_ html: ByteString) -> ByteString {
    var converter = HTMLText(HTMLReader(bytes(of: html)))
    return ByteString(decoding: converter.run())
  }

  /// And the users it links to.
  static func sanitizeForSending(_ html: ByteString) -> (ByteString, [UserID]) {
    var sanitizer = HTMLSanitizer(HTMLReader(bytes(of: html)), .sending)
    return (ByteString(decoding: sanitizer.run()), sanitizer.linkedUsers)
  }

  /// Text as HTML that shows just this.
  public static func escape(_ text: ByteString) -> ByteString {
    var out: [UInt8] = []
    HTMLEntities.escape(Array(text.utf8)[...], to: &out)
    return ByteString(decoding: out)
  }

  /// For a view that builds elements of its own from what messages may have.
  package static func reader(of html: ByteString) -> HTMLReader { HTMLReader(bytes(of: html)) }

  private static func bytes(of html: ByteString) -> [UInt8] { Array(html.utf8.prefix(ContentLimits.htmlBytes)) }
}
