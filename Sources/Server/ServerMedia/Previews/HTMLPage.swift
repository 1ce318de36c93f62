import CXML2

/// A page as a preview looks at it: its tags and texts in their order, however broken it is.
///
/// Strangers write pages, so none is made a tree of: one pass over the bytes keeps one tag or text at a time and the names of the
/// elements it is in. What a page costs is bounded by how many of its bytes, tags and elements inside each other are looked at.
/// Source: HTML Standard §13.2.5, as far as a preview needs it.
package struct HTMLPage: Sendable {
  /// Bytes of a page that are looked at, as it came and in UTF-8.
  static let bytesLimit = 1 << 20
  /// Tags, comments and declarations of a page that are looked at.
  static let tagsLimit = 10_000
  /// Elements inside each other; deeper down a page is not looked at.
  static let depthLimit = 128
  /// Attributes of a tag, and bytes of an attribute's value and of one text, that are looked at.
  static let attributesLimit = 50
  static let textBytesLimit = 8 << 10

  private let bytes: [UInt8]

  /// - Parameter charset: what the server says the page is written in; nil where it does not.
  /// nil for bytes of which nothing can be made.
  package init?(_ bytes: [UInt8], charset: String?) {
    guard !bytes.isEmpty, bytes.count <= Self.bytesLimit else { return nil }
    self.bytes = PageCharset.utf8(bytes, charset)
  }

  /// One element of a page.
  struct Element {
    /// In lower case.
    let name: String
    fileprivate let tag: HTMLTag
    fileprivate let bytes: [UInt8]

    /// Returns the first `textBytesLimit` bytes of an attribute's value; nil if there is no such attribute.
    func attribute(_ name: StaticString) -> String? {
      tag.value(of: name, in: bytes).map { HTMLText.decoded(bytes[$0].prefix(textBytesLimit)) }
    }
  }

  /// What stands where in a page.
  enum Part {
    case element(Element)
    /// The first `textBytesLimit` bytes of a text, with the elements it is in by name, the innermost first.
    case text(String, inside: [String])
  }

  /// What was looked at.
  struct Extent: Equatable {
    var tags = 0
    var depth = 0
    var bytes = 0
  }

  /// Calls `body` with every element and text in the order of the page, until it answers false.
  @discardableResult
  func forEach(_ body: (Part) -> Bool) -> Extent {
    var extent = Extent()
    var open = OpenElements()
    var scanner = HTMLScanner(bytes)
    while extent.tags < Self.tagsLimit, let token = scanner.next() {
      extent.bytes = scanner.position
      switch token {
      case .text(let range):
        let text = HTMLText.decoded(bytes[range].prefix(Self.textBytesLimit))
        open.willRead(text)
        guard body(.text(text, inside: open.names.reversed())) else { return extent }
      case .start(let tag):
        extent.tags += 1
        let name = tag.name(in: bytes)
        guard body(.element(Element(name: name, tag: tag, bytes: bytes))) else { return extent }
        open.begin(name, isClosed: tag.isClosed)
        guard open.names.count <= Self.depthLimit else { return extent }
        extent.depth = max(extent.depth, open.names.count)
        if !tag.isClosed { scanner.readText(of: name) }
      case .end(let tag):
        extent.tags += 1
        open.end(tag.name(in: bytes))
      case .other: extent.tags += 1
      }
    }
    return extent
  }

  /// Resolves a reference on a page at this address (RFC 3986 §5). Returns nil if it is not valid.
  package static func resolve(_ reference: String, at base: String) -> String? {
    guard reference.utf8.count <= PageSummary.urlBytesLimit, let resolved = xmlBuildURI(reference, base) else { return nil }
    defer { martlet_xml_free(resolved) }
    return String(cString: resolved)
  }
}

/// The elements that are open at a place of a page, the outermost first.
private struct OpenElements {
  private(set) var names: [String] = []

  private static let empty: Set<String> = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"
  ]
  /// What ends where the next of its kind begins.
  private static let endedByNext: Set<String> = ["p", "li", "dt", "dd", "tr", "td", "th", "option"]
  private static let ofHead: Set<String> = [
    "title", "meta", "link", "script", "style", "base", "noscript", "template"
  ]

  mutating func begin(_ name: String, isClosed: Bool) {
    if names.last == "head", !Self.ofHead.contains(name) { names.removeLast() }
    if names.last == name, Self.endedByNext.contains(name) { names.removeLast() }
    if !isClosed, !Self.empty.contains(name) { names.append(name) }
  }

  mutating func end(_ name: String) {
    if let index = names.lastIndex(of: name) { names.removeSubrange(index...) }
  }

  /// Text that is more than blanks ends the head.
  mutating func willRead(_ text: String) {
    if names.last == "head", text.utf8.contains(where: { $0 > 0x20 }) { names.removeLast() }
  }
}
