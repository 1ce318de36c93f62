/// What a page says it is about: its OpenGraph properties, and what stands for them where it has none.
///
/// Source: The Open Graph protocol (ogp.me).
package struct PageSummary: Sendable {
  /// Bytes of one property's value.
  package static let valueBytesLimit = 1_000
  /// Properties of one page.
  static let propertiesLimit = 40
  /// Bytes of a picture's address.
  static let urlBytesLimit = 4_096
  /// Bytes of a description that is taken from the page's text.
  static let excerptBytesLimit = 300

  /// `og:…` but for pictures, films and sounds, in the order of the page, each once.
  package private(set) var properties: [(name: String, value: String)] = []
  /// The picture's address as the page has it; nil if the page names no picture.
  package var image: String? { openGraphImage ?? namedImage ?? firstImage }

  private var openGraphImage: String?
  private var namedImage: String?
  private var firstImage: String?
  private var title = ""
  private var heading = ""
  private var summary: String?
  private var excerpt = ""

  /// Elements whose text is not what a page is about.
  private static let passedOver: Set<String> = [
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button", "select", "svg", "title",
    "head", "iframe", "object"
  ]

  package init(_ page: HTMLPage) {
    page.forEach { part in
      switch part {
      case .element(let element): take(element)
      case .text(let text, let inside): take(text, inside)
      }
      return true
    }
    if value("og:title") == nil {
      add("og:title", Self.oneLine(title).isEmpty ? heading : title)
    }
    if value("og:description") == nil { add("og:description", summary ?? excerpt) }
  }

  private func value(_ name: String) -> String? { properties.first { $0.name == name }?.value }

  private mutating func take(_ element: HTMLPage.Element) {
    switch element.name {
    case "meta":
      guard let name = (element.attribute("property") ?? element.attribute("name"))?.lowercased(),
        let content = element.attribute("content")
      else { return }
      take(name, content)
    case "link":
      if namedImage == nil, element.attribute("rel")?.lowercased() == "image_src" { namedImage = element.attribute("href") }
    case "img":
      if firstImage == nil, let source = element.attribute("src"), !source.hasPrefix("data:") { firstImage = source }
    default: break
    }
  }

  private mutating func take(_ name: String, _ content: String) {
    switch name {
    case "og:image", "og:image:url", "og:image:secure_url":
      if openGraphImage == nil { openGraphImage = content }
    case "twitter:image", "twitter:image:src":
      if namedImage == nil { namedImage = content }
    case "description", "twitter:description":
      if summary == nil { summary = content }
    case "twitter:title":
      if title.isEmpty { title = content }
    default:
      let media = ["og:image", "og:video", "og:audio"]
      guard name.hasPrefix("og:"), name.utf8.count <= 64, !media.contains(where: name.hasPrefix), value(name) == nil,
        properties.count < Self.propertiesLimit
      else { return }
      add(name, content)
    }
  }

  private mutating func take(_ text: String, _ inside: [String]) {
    if inside.first == "title", !inside.contains("body"), !inside.contains("svg") {
      if title.utf8.count < Self.valueBytesLimit { title += text }
      return
    }
    if inside.first == "h1", heading.utf8.count < Self.valueBytesLimit { heading += text }
    guard excerpt.utf8.count < Self.excerptBytesLimit else { return }
    let line = Self.oneLine(text)
    guard !line.isEmpty, !inside.contains(where: Self.passedOver.contains) else { return }
    excerpt = Self.cut(excerpt.isEmpty ? line : excerpt + " " + line, Self.excerptBytesLimit)
  }

  private mutating func add(_ name: String, _ value: String) {
    let value = Self.cut(Self.oneLine(value), Self.valueBytesLimit)
    if !value.isEmpty { properties.append((name, value)) }
  }

  // MARK: Text

  /// The text with every run of spaces, line breaks and control characters as one space, and none at its ends.
  static func oneLine(_ text: String) -> String {
    text.unicodeScalars.split { $0.value <= 0x20 || $0.value == 0x7F || $0.value == 0xA0 }.map(String.init)
      .joined(separator: " ")
  }

  /// At most so many bytes of the text, no character cut in two.
  static func cut(_ text: String, _ bytesLimit: Int) -> String {
    guard text.utf8.count > bytesLimit else { return text }
    var end = text.startIndex
    var bytes = 3
    for index in text.indices {
      bytes += text[index].utf8.count
      if bytes > bytesLimit { break }
      end = text.index(after: index)
    }
    return text[..<end] + "…"
  }
}
