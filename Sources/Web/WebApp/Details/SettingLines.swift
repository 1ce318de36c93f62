import ClientCore
import Messenger
import PageWidgets
import PageWords

/// Settings below each other, each saved on its own: a choice for those who may choose, for others what holds. Where the server refuses
/// the choice goes back.
struct SettingLines<D: DOM> {
  typealias Option = (value: String, words: String)

  private let app: App<D>
  private let node: Node

  init(_ app: App<D>, in node: Node) {
    self.app = app
    self.node = node
  }

  /// - Parameters:
  ///   - known: the value that holds.
  ///   - save: saves another one and tells how that ended.
  func add(
    _ label: String, _ options: [Option], known: String, isAllowed: Bool,
    _ save: @escaping (String, @escaping (ClientError?) -> Void) -> Void
  ) {
    guard isAllowed else {
      let line = app.dom.element("div", "ma-section", in: node)
      app.dom.element("h4", "ma-field-label", text: label, in: line)
      app.dom.element("p", text: options.first { $0.value.hasSameBytes(as: known) }?.words ?? "", in: line)
      return
    }
    let choice = Choice(app.dom, label, options, selected: known, in: node)
    choice.onChange = { [app] value in
      save(value) { error in
        guard let error else { return }
        choice.set(known)
        app.notices.show(Strings.words(for: error), isTrouble: true)
      }
    }
  }

  func add(
    _ label: String, isOn: Bool, isAllowed: Bool, _ save: @escaping (Bool, @escaping (ClientError?) -> Void) -> Void
  ) {
    add(label, [("1", Strings[.yes]), ("", Strings[.no])], known: isOn ? "1" : "", isAllowed: isAllowed) { value, ended in
      save(!value.utf8.isEmpty, ended)
    }
  }
}

extension App {
  /// Tells how it ended, without the answer.
  func save<Answer>(_ query: Query<Answer>, _ ended: @escaping (ClientError?) -> Void) {
    ask(query) { result in
      if case .failure(let error) = result { ended(error) } else { ended(nil) }
    }
  }

  func save(_ command: Command, _ ended: @escaping (ClientError?) -> Void) {
    ask(command) { result in
      if case .failed(let error) = result { ended(error) } else { ended(nil) }
    }
  }
}
