import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Texts one below the other.
struct TextDialog<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ title: String, _ texts: [String], isCode: Bool = false) {
    let dom = app.dom
    app.dialogs.open { frame in
      frame.setTitle(title, look: isCode ? "ma-wide-dialog" : "")
      for text in texts {
        let node = dom.element(isCode ? "pre" : "p", isCode ? "ma-source" : "ma-version", text: text, in: frame.body)
        dom.setAttribute(node, "tabindex", "0")
      }
    }
  }
}

/// Tells those who run the server about a message, a room or a person.
struct ReportDialog<D: DOM> {
  /// What it begins with for those who read it, in English, and the words it is chosen by.
  private static var kinds: [(value: String, words: String)] {
    [
      ("Spam", Strings[.reportSpam]), ("Abuse", Strings[.reportAbuse]), ("Violence", Strings[.reportViolence]),
      ("Illegal", Strings[.reportIllegal]), ("", Strings[.reportOther])
    ]
  }

  /// - Parameter report: of the reason.
  @discardableResult
  init(_ app: App<D>, _ title: Strings.Key, in frame: DialogFrame<D>, _ report: @escaping (ByteString) -> Query<Void>) {
    let dom = app.dom
    frame.setTitle(title)
    let form = dom.element("form", "ma-form", in: frame.body)
    dom.element("p", "ma-note", text: .reportNote, in: form)
    var kind = ""
    Choice(dom, Strings[.reportKind], Self.kinds, selected: kind, in: form) { kind = $0 }
    let field = Field(dom, .reportReason, in: form)
    frame.setFirst(field.input)
    let trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let submit = SubmitButton(dom, .report, busy: .reporting, kind: "ma-danger", in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { _ in
      guard !submit.isBusy else { return }
      submit.setBusy(true)
      let reason = field.text.trimmed
      let isWhole = kind.utf8.isEmpty || reason.utf8.isEmpty
      app.save(report(ByteString(isWhole ? kind + reason : kind + ": " + reason))) { error in
        guard frame.isOpen else { return }
        if let error {
          submit.setBusy(false)
          dom.setText(trouble, Strings.words(for: error))
        } else {
          frame.close()
          app.notices.show(.reported)
        }
      }
      dom.flush()
    }
  }
}

/// JSON with line breaks and indents, for people.
enum Indented {
  static func json(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    var depth = 0
    var isText = false
    var isEscaped = false
    func newLine() {
      out.append(0x0A)
      for _ in 0..<min(depth, 64) * 2 { out.append(0x20) }
    }
    for (index, byte) in bytes.enumerated() {
      if isText {
        out.append(byte)
        isText = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      switch byte {
      case UInt8(ascii: "\""):
        isText = true
        out.append(byte)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        out.append(byte)
        depth += 1
        if next != UInt8(ascii: "}"), next != UInt8(ascii: "]") { newLine() }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if index > 0, bytes[index - 1] != UInt8(ascii: "{"), bytes[index - 1] != UInt8(ascii: "[") { newLine() }
        out.append(byte)
      case UInt8(ascii: ","):
        out.append(byte)
        newLine()
      case UInt8(ascii: ":"): out += [byte, 0x20]
      default: if byte > 0x20 { out.append(byte) }
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
