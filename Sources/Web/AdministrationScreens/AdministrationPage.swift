import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What a section stands in while it is open: its heading, its body, a line for troubles; and how it asks the server.
final class AdministrationPage<D: DOM> {
  let context: AdministrationContext<D>
  let dom: D
  let address: AdministrationAddress
  let body: Node
  /// False once another place is shown: answers that come later change nothing.
  private(set) var isOpen = true
  /// The server refused something as it does those who administer nothing.
  var onRefused: () -> Void = {}
  private let root: Node
  private let back: Node
  private let title: Node
  private let titleText: Node
  private let trouble: Node

  init(_ context: AdministrationContext<D>, _ address: AdministrationAddress, in parent: Node) {
    self.context = context
    self.address = address
    dom = context.dom
    root = dom.element("div", "ma-admin-page", in: parent)
    back = dom.element("div", "ma-admin-trail", in: root)
    title = dom.element("h1", "ma-admin-title", in: root)
    dom.setAttribute(title, "tabindex", "-1")
    titleText = dom.element("bdi", in: title)
    trouble = dom.element("p", "ma-trouble", in: root)
    dom.setAttribute(trouble, "role", "alert")
    body = dom.element("div", "ma-admin-body", in: root)
    if !address.subject.isEmpty {
      let link = dom.element("a", "ma-admin-trail-link", text: address.section.title, in: back)
      dom.setAttribute(link, "href", "#" + AdministrationAddress(address.section).fragment)
    }
  }

  func close() {
    isOpen = false
    dom.release(root)
  }

  func setTitle(_ text: String) { dom.setText(titleText, text) }

  func takeFocus() { dom.focus(title) }

  func go(to section: AdministrationAddress.Section, _ subject: ByteString = "") {
    context.goTo(AdministrationAddress(section, subject))
  }

  func openDialog(_ make: @escaping (DialogFrame<D>) -> Void) { context.openDialog(make) }

  func say(_ words: Strings.Key) { context.say(Strings[words]) }

  func say(_ words: String) { context.say(words) }

  /// Whoever is signed in.
  var user: UserID? { context.user }

  // MARK: Asking

  /// Asks, and says what went wrong unless `failed` does.
  func ask<Answer>(
    _ query: Query<Answer>, failed: ((ClientError) -> Void)? = nil, _ then: @escaping (Answer) -> Void
  ) {
    context.ask(query) { [self] result in
      guard isOpen else { return }
      switch result {
      case .success(let answer):
        dom.setText(trouble, "")
        then(answer)
      case .failure(let error):
        let say = failed ?? { [self] in dom.setText(trouble, Strings.words(for: $0)) }
        ifStillAdministrator(after: error) { say(error) }
      }
      dom.flush()
    }
  }

  /// A refusal may be of this one thing, or because the right to administer is gone.
  func ifStillAdministrator(after error: ClientError, _ then: @escaping () -> Void) {
    guard case .refused(403, _, _, _) = error else { return then() }
    context.ask(.capabilities()) { [self] result in
      guard isOpen else { return }
      if case .success(let capabilities) = result, !capabilities.isAdministrator {
        context.closeDialogs()
        return onRefused()
      }
      then()
      dom.flush()
    }
  }

  /// Asks in words that name the thing, then does it.
  ///
  /// - Parameter done: what the page says afterwards.
  func confirm<Answer>(
    _ question: String, _ note: String = "", action: Strings.Key, done: Strings.Key, _ query: @escaping () -> Query<Answer>,
    _ then: @escaping (Answer) -> Void
  ) {
    context.openDialog { frame in
      var answer: Answer?
      _ = ConfirmDialog(
        question, note: note, action: action, busy: .adminWorking, in: frame,
        run: { [self] ended in
          context.ask(query()) { [self] result in
            switch result {
            case .success(let value):
              answer = value
              ended(nil)
            case .failure(let error): ifStillAdministrator(after: error) { ended(Strings.words(for: error)) }
            }
          }
        },
        { [self] in
          say(done)
          if isOpen, let answer { then(answer) }
          dom.flush()
        })
    }
  }

  /// Asks again and again how far something is, until it is over.
  func follow(
    _ query: @escaping () -> Query<TaskProgress>, in node: Node, _ words: @escaping (TaskProgress) -> String,
    _ ended: @escaping (TaskProgress) -> Void
  ) {
    ask(query()) { [self] progress in
      dom.setText(node, words(progress))
      guard progress.state == .active else { return ended(progress) }
      Host.after(milliseconds: 500) { [self] in if isOpen { follow(query, in: node, words, ended) } }
    }
  }

  // MARK: What sections are made of

  /// A part of the section with a heading of its own.
  func part(_ title: Strings.Key, in parent: Node? = nil) -> Node {
    let part = dom.element("section", "ma-admin-part", in: parent ?? body)
    dom.element("h2", "ma-admin-part-title", text: title, in: part)
    return part
  }

  /// A line of buttons.
  func tools(in parent: Node? = nil) -> Node { dom.element("div", "ma-admin-tools", in: parent ?? body) }

  @discardableResult
  func tool(
    _ words: Strings.Key, _ icon: Drawing? = nil, isDangerous: Bool = false, in tools: Node, _ run: @escaping () -> Void
  )
    -> Node
  {
    let button = dom.button(isDangerous ? "ma-button ma-small ma-danger" : "ma-button ma-small", words, icon: icon, in: tools)
    dom.on(button, .click) { _ in run() }
    return button
  }

  /// Names and what they stand for, such as when an account was made.
  func facts(_ facts: [(Strings.Key, String)], in parent: Node? = nil) {
    let list = dom.element("dl", "ma-admin-facts", in: parent ?? body)
    for (name, value) in facts where !value.utf8.isEmpty {
      let line = dom.element("div", in: list)
      dom.element("dt", text: name, in: line)
      dom.element("bdi", text: value, in: dom.element("dd", in: line))
    }
  }

  func link(_ text: String, _ section: AdministrationAddress.Section, _ subject: ByteString, in parent: Node) {
    let link = dom.element("a", "ma-admin-name", in: parent)
    dom.element("bdi", text: text, in: link)
    dom.setAttribute(link, "href", "#" + AdministrationAddress(section, subject).fragment)
  }

  func chip(_ words: Strings.Key, isTrouble: Bool = false, in parent: Node) {
    dom.element("span", isTrouble ? "ma-remark ma-admin-bad" : "ma-remark", text: words, in: parent)
  }
}
