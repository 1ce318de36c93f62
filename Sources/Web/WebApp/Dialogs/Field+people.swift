import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

extension Field {
  /// Offers people of the server's directory for the last word as one types; what is chosen is the ID. Called once.
  /// - Parameter name: of the list in the page, which may have several.
  func suggestPeople(_ app: App<D>, in frame: DialogFrame<D>, _ name: String = "ma-people") {
    let dom = frame.dom
    let list = dom.element("datalist", in: node)
    dom.setAttribute(list, "id", name)
    dom.setAttribute(input, "list", name)
    onInput = { [self] in
      let words = text
      let bytes = Array(words.utf8)
      let start = bytes.lastIndex { $0 == 0x20 || $0 == 0x2C }.map { $0 + 1 } ?? 0
      let last = ByteString(decoding: bytes[start...])
      guard !last.isEmpty else { return }
      // The browser shows what begins with all that stands there.
      let before = String(decoding: bytes[..<start], as: UTF8.self)
      Host.after(milliseconds: 200) { [self] in
        guard frame.isOpen, words.hasSameBytes(as: text) else { return }
        app.ask(.searchUsers(last, limit: 6)) { [self] result in
          guard frame.isOpen, words.hasSameBytes(as: text), case .success(let found) = result else { return }
          dom.releaseChildren(of: list)
          for user in found.users {
            let option = dom.element("option", text: before + (user.displayName?.string ?? ""), in: list)
            dom.setAttribute(option, "value", before + user.id.string)
          }
        }
      }
    }
  }
}
