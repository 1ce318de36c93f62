import CXML2

/// A page as libxml2 reads it, however broken it is. Belongs to one thread.
struct HTMLPage: ~Copyable {
  /// Bytes of a page that are looked at.
  static let bytesLimit = 5 << 20
  /// Elements and texts of a page that are looked at.
  private static let nodesLimit = 200_000

  private let document: UnsafeMutablePointer<xmlDoc>

  private static let isReady: Bool = {
    xmlInitParser()
    return true
  }()

  /// - Parameter charset: what the server says the page is written in; nil where it does not.
  /// nil for bytes of which nothing can be made.
  init?(_ bytes: [UInt8], charset: String?) {
    guard Self.isReady, !bytes.isEmpty, bytes.count <= Self.bytesLimit else { return nil }
    let encoding = Self.encoding(of: bytes, charset)
    let document = bytes.withUnsafeBytes { buffer in
      let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      guard let encoding else { return martlet_html_parse(start, Int32(buffer.count), nil) }
      return martlet_html_parse(start, Int32(buffer.count), encoding)
    }
    guard let document else { return nil }
    self.document = document
  }

  deinit { xmlFreeDoc(document) }

  /// What the server said; else UTF-8 where the bytes are, which pages often forget to say; else nil: as the page says.
  private static func encoding(of bytes: [UInt8], _ charset: String?) -> String? {
    if let charset, (1...40).contains(charset.utf8.count), charset.utf8.allSatisfy(isNameByte),
      martlet_xml_knows_encoding(charset) != 0
    {
      return charset
    }
    let isASCII = bytes.allSatisfy { $0 < 0x80 }
    return !isASCII && String(validating: bytes, as: UTF8.self) != nil ? "UTF-8" : nil
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"):
      true
    default: false
    }
  }

  /// One element of a page, valid while the page is.
  struct Element {
    fileprivate let node: UnsafeMutablePointer<xmlNode>

    /// In lower case.
    var name: String { node.pointee.name.map { String(cString: $0) } ?? "" }

    /// An attribute's value; nil where there is none.
    func attribute(_ name: String) -> String? {
      guard let value = xmlGetProp(node, name) else { return nil }
      defer { martlet_xml_free(value) }
      return String(cString: value)
    }
  }

  /// What stands where in a page.
  enum Part {
    case element(Element)
    /// Text, with the elements it is in by name, the innermost first.
    case text(String, inside: [String])
  }

  /// Calls `body` with every element and text in the order of the page, until it answers false.
  func forEach(_ body: (Part) -> Bool) {
    guard var node = xmlDocGetRootElement(document) else { return }
    var names: [String] = []
    for _ in 0..<Self.nodesLimit {
      switch node.pointee.type {
      case XML_ELEMENT_NODE:
        guard body(.element(Element(node: node))) else { return }
        if let child = node.pointee.children {
          names.append(Element(node: node).name)
          node = child
          continue
        }
      case XML_TEXT_NODE:
        if let content = node.pointee.content {
          guard body(.text(String(cString: content), inside: names.reversed())) else { return }
        }
      default: break
      }
      while node.pointee.next == nil {
        guard let parent = node.pointee.parent, parent.pointee.type == XML_ELEMENT_NODE else { return }
        node = parent
        if !names.isEmpty { names.removeLast() }
      }
      guard let next = node.pointee.next else { return }
      node = next
    }
  }

  /// A reference as it is to be read on a page of that address (RFC 3986 §5); nil where it is none.
  static func resolve(_ reference: String, at base: String) -> String? {
    guard isReady, reference.utf8.count <= PageSummary.urlBytesLimit, let resolved = xmlBuildURI(reference, base) else {
      return nil
    }
    defer { martlet_xml_free(resolved) }
    return String(cString: resolved)
  }
}
