/// The elements that messages may have, and those that are known only to be taken out.
///
/// Spec: Client-Server API, "m.room.message msgtypes".
package enum HTMLTag: UInt8 {
  case a, b, blockquote, br, caption, code, del, details, div, em, h1, h2, h3, h4, h5, h6, hr, i, img, li, ol, p, pre, s, span,
    strong, sub, summary, sup, table, tbody, td, th, thead, tr, u, ul
  /// Deprecated: becomes a `span`.
  case font
  /// The fallback of old replies; see `HTML.sanitize`.
  case mxReply
  // What stands in these is no text.
  case script, style, textarea, title, noscript, iframe, xmp, template

  static var count: Int { Int(HTMLTag.template.rawValue) + 1 }

  var name: StaticString {
    switch self {
    case .a: "a"
    case .b: "b"
    case .blockquote: "blockquote"
    case .br: "br"
    case .caption: "caption"
    case .code: "code"
    case .del: "del"
    case .details: "details"
    case .div: "div"
    case .em: "em"
    case .h1: "h1"
    case .h2: "h2"
    case .h3: "h3"
    case .h4: "h4"
    case .h5: "h5"
    case .h6: "h6"
    case .hr: "hr"
    case .i: "i"
    case .img: "img"
    case .li: "li"
    case .ol: "ol"
    case .p: "p"
    case .pre: "pre"
    case .s: "s"
    case .span: "span"
    case .strong: "strong"
    case .sub: "sub"
    case .summary: "summary"
    case .sup: "sup"
    case .table: "table"
    case .tbody: "tbody"
    case .td: "td"
    case .th: "th"
    case .thead: "thead"
    case .tr: "tr"
    case .u: "u"
    case .ul: "ul"
    case .font: "font"
    case .mxReply: "mx-reply"
    case .script: "script"
    case .style: "style"
    case .textarea: "textarea"
    case .title: "title"
    case .noscript: "noscript"
    case .iframe: "iframe"
    case .xmp: "xmp"
    case .template: "template"
    }
  }

  /// nil for elements that nobody needs to tell apart: their tags are dropped, what is in them stays.
  init?(name: ArraySlice<UInt8>) {
    guard name.count <= 10 else { return nil }
    for number in 0..<UInt8(HTMLTag.count) {
      if let tag = HTMLTag(rawValue: number), HTMLReader.isName(name, tag.name) {
        self = tag
        return
      }
    }
    return nil
  }

  package var isVoid: Bool { self == .br || self == .hr || self == .img }
  package var isRaw: Bool { rawValue >= HTMLTag.script.rawValue }

  /// Stands on lines of its own.
  package var isBlock: Bool {
    switch self {
    case .blockquote, .caption, .details, .div, .h1, .h2, .h3, .h4, .h5, .h6, .hr, .ol, .p, .pre, .summary, .table, .tr, .ul,
      .li:
      true
    default: false
    }
  }

  /// Whether this open element ends where that one starts.
  package func isEnded(by next: HTMLTag) -> Bool {
    switch self {
    case .p: next.isBlock
    case .li: next == .li
    case .td, .th: next == .td || next == .th || next == .tr
    case .tr: next == .tr
    default: false
    }
  }
}
