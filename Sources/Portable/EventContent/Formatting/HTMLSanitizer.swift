import JSON
import MatrixModel

/// Copies what is allowed. Elements are opened and closed by its own stack only, so that the result is well formed whatever comes in.
struct HTMLSanitizer {
  private struct Open {
    let tag: HTMLTag
    /// False beyond the depth that is allowed: only what is in it stands in the result.
    let isWritten: Bool
  }

  private var reader: HTMLReader
  private let purpose: HTML.Purpose
  private var out: [UInt8] = []
  private var open: [Open] = []
  private var depth = 0
  /// How many elements of each kind are open: an end tag without a start costs nothing.
  private var openCounts = [Int](repeating: 0, count: HTMLTag.count)
  /// The number of open `mx-reply` elements, whose content is removed.
  private var replyDepth = 0
  /// The users that links name, as far as a message may mention them.
  private(set) var linkedUsers: [UserID] = []

  init(_ reader: HTMLReader, _ purpose: HTML.Purpose) {
    self.reader = reader
    self.purpose = purpose
  }

  mutating func run() -> [UInt8] {
    out.reserveCapacity(reader.bytes.count)
    while let token = reader.next() {
      switch token {
      case .text(let range): if replyDepth == 0 { HTMLEntities.escape(HTMLEntities.decode(reader.bytes[range])[...], to: &out) }
      case .start(let tag): start(tag)
      case .end(let tag): end(tag)
      }
    }
    while !open.isEmpty { close() }
    return out
  }

  // MARK: Elements

  private mutating func start(_ tag: HTMLTag?) {
    guard let tag, !tag.isRaw else { return }
    if tag == .mxReply {
      if case .display(removesReply: true) = purpose { replyDepth += 1 }
      return
    }
    if replyDepth > 0 { return }
    while let last = open.last, last.tag.isEnded(by: tag) { close() }
    if tag.isVoid {
      writeStart(tag)
      return
    }
    // One link does not stand in another.
    if tag == .a, openCounts[Int(HTMLTag.a.rawValue)] > 0 { end(.a) }
    let isWritten = depth < ContentLimits.htmlDepth
    if isWritten {
      writeStart(tag)
      depth += 1
    }
    open.append(Open(tag: tag, isWritten: isWritten))
    openCounts[Int(tag.rawValue)] += 1
  }

  private mutating func end(_ tag: HTMLTag?) {
    guard let tag else { return }
    if tag == .mxReply {
      replyDepth = max(0, replyDepth - 1)
      return
    }
    guard replyDepth == 0, openCounts[Int(tag.rawValue)] > 0 else { return }
    while let last = open.last {
      close()
      if last.tag == tag { return }
    }
  }

  private mutating func close() {
    guard let last = open.popLast() else { return }
    openCounts[Int(last.tag.rawValue)] -= 1
    guard last.isWritten else { return }
    depth -= 1
    out += "</".utf8
    write(HTMLSanitizer.written(last.tag).name)
    out.append(UInt8(ascii: ">"))
  }

  private static func written(_ tag: HTMLTag) -> HTMLTag { tag == .font ? .span : tag }

  // MARK: Attributes

  private mutating func writeStart(_ tag: HTMLTag) {
    let mark = out.count
    out.append(UInt8(ascii: "<"))
    write(HTMLSanitizer.written(tag).name)
    var seen: [HTMLAttribute] = []
    for attribute in reader.attributes {
      guard let known = HTMLAttribute(name: reader.bytes[attribute.name], of: tag), !seen.contains(known),
        let value = known.accepted(HTMLEntities.decode(reader.bytes[attribute.value]))
      else { continue }
      seen.append(known)
      write(known, value)
      if known == .href { note(value) }
    }
    // A picture without a source is dropped. A link without a target is kept as text, and may still hold a mention.
    if tag == .img, !seen.contains(.src) {
      out.removeSubrange(mark...)
      return
    }
    if tag == .a, seen.contains(.href), case .display = purpose { out += " target=\"_blank\" rel=\"noopener\"".utf8 }
    out.append(UInt8(ascii: ">"))
  }

  private mutating func note(_ target: [UInt8]) {
    guard linkedUsers.count < ContentLimits.mentions, let link = Permalink(ByteString(decoding: target)),
      case .user(let user) = link.target
    else { return }
    linkedUsers.append(user)
  }

  private mutating func write(_ attribute: HTMLAttribute, _ value: [UInt8]) {
    out.append(UInt8(ascii: " "))
    write(attribute.name)
    if value.isEmpty { return }
    out += "=\"".utf8
    HTMLEntities.escape(value[...], to: &out)
    out.append(UInt8(ascii: "\""))
  }

  private mutating func write(_ text: StaticString) {
    out += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }
}

/// The attributes that some element may have.
package enum HTMLAttribute: UInt8 {
  case backgroundColor, color, spoiler, maths, emoticon, href, src, alt, title, width, height, start, `class`

  var name: StaticString {
    switch self {
    case .backgroundColor: "data-mx-bg-color"
    case .color: "data-mx-color"
    case .spoiler: "data-mx-spoiler"
    case .maths: "data-mx-maths"
    case .emoticon: "data-mx-emoticon"
    case .href: "href"
    case .src: "src"
    case .alt: "alt"
    case .title: "title"
    case .width: "width"
    case .height: "height"
    case .start: "start"
    case .class: "class"
    }
  }

  /// nil where that element may not have it.
  init?(name: ArraySlice<UInt8>, of tag: HTMLTag) {
    for attribute in HTMLAttribute.allowed(tag) where HTMLReader.isName(name, attribute.name) {
      self = attribute
      return
    }
    // The older way of writing a colour.
    guard tag == .font, HTMLReader.isName(name, "color") else { return nil }
    self = .color
  }

  private static func allowed(_ tag: HTMLTag) -> [HTMLAttribute] {
    switch tag {
    case .span: [.backgroundColor, .color, .spoiler, .maths]
    case .font: [.backgroundColor, .color]
    case .a: [.href]
    case .img: [.width, .height, .alt, .title, .src, .emoticon]
    case .ol: [.start]
    case .code: [.class]
    case .div: [.maths]
    default: []
    }
  }

  /// The value as it may be written; nil where it may not. Empty where the name alone says all.
  func accepted(_ value: [UInt8]) -> [UInt8]? {
    switch self {
    case .backgroundColor, .color:
      value.count == 7 && value[0] == UInt8(ascii: "#") && value.dropFirst().allSatisfy(HTMLAttribute.isHexadecimal)
        ? value : nil
    case .spoiler, .maths: value
    case .emoticon: []
    case .alt, .title: value.isEmpty ? nil : value
    case .href: HTMLAttribute.hasAllowedScheme(value) ? value : nil
    case .src: MediaURI.accepts(ByteString(decoding: value)) ? value : nil
    case .width, .height: (1...5).contains(value.count) && value.allSatisfy(HTMLAttribute.isDigit) ? value : nil
    case .start: HTMLAttribute.isInteger(value) ? value : nil
    case .class: HTMLAttribute.language(in: value)
    }
  }

  /// `https`, `http`, `ftp`, `mailto` and `magnet` as the spec lists them, and `matrix`, in which mentions may be written.
  static func hasAllowedScheme(_ value: [UInt8]) -> Bool {
    guard value.count <= ContentLimits.linkBytes, let colon = value.prefix(8).firstIndex(of: UInt8(ascii: ":")) else {
      return false
    }
    let scheme = value[..<colon]
    return (["https", "http", "ftp", "mailto", "magnet", "matrix"] as [StaticString]).contains { HTMLReader.isName(scheme, $0) }
  }

  /// The first class that names a language.
  private static func language(in value: [UInt8]) -> [UInt8]? {
    value.split(separator: UInt8(ascii: " ")).first { $0.starts(with: "language-".utf8) }.map { Array($0) }
  }

  private static func isInteger(_ value: [UInt8]) -> Bool {
    let digits = value.first == UInt8(ascii: "-") ? value.dropFirst() : value[...]
    return (1...9).contains(digits.count) && digits.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }
  private static func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 97 < 6 }
}
