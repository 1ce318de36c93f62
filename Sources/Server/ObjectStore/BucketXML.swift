import CXML2

/// What an answer of S3 says: the texts of elements below its root.
struct BucketXML {
  /// The texts of an element's children, by name.
  struct Element {
    let name: String
    let text: String
    let children: [String: String]
  }

  let root: String
  let elements: [Element]

  /// nil for what is no XML. Entities that the text declares itself are not replaced, and nothing is fetched.
  init?(_ bytes: [UInt8]) {
    let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
    let parsed = bytes.withUnsafeBytes { bytes in
      xmlReadMemory(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), nil, nil, Int32(options))
    }
    guard let document = parsed else { return nil }
    defer { xmlFreeDoc(document) }
    guard let node = xmlDocGetRootElement(document) else { return nil }
    root = Self.name(node)
    elements = Self.children(of: node).map { node in
      let children = Self.children(of: node).map { (Self.name($0), Self.text($0)) }
      return Element(
        name: Self.name(node), text: children.isEmpty ? Self.text(node) : "",
        children: Dictionary(children) { first, _ in first })
    }
  }

  func text(_ name: String) -> String? { elements.first { $0.name == name }?.text }

  private static func children(of node: xmlNodePtr) -> [xmlNodePtr] {
    var children: [xmlNodePtr] = []
    var next = node.pointee.children
    while let child = next {
      if child.pointee.type == XML_ELEMENT_NODE { children.append(child) }
      next = child.pointee.next
    }
    return children
  }

  private static func name(_ node: xmlNodePtr) -> String {
    node.pointee.name.map { String(cString: $0) } ?? ""
  }

  private static func text(_ node: xmlNodePtr) -> String {
    guard let text = xmlNodeGetContent(node) else { return "" }
    defer { martlet_xml_free(text) }
    return String(cString: text)
  }
}
