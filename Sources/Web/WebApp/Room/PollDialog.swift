import ClientCore
import JSON
import Messenger
import PageWidgets

/// A question with answers to choose from.
final class PollDialog<D: DOM> {
  /// Spec: MSC3381, at most 20 answers.
  private static var answersLimit: Int { 20 }

  private let dom: D
  private let question: Field<D>
  private let list: Node
  private let more: Node
  private var answers: [Field<D>] = []
  private var isDisclosed = true
  private var isSeveral = false
  private var isSilent = false

  @discardableResult
  init(_ dom: D, in frame: DialogFrame<D>, _ send: @escaping (OutgoingPoll, Bool) -> Void) {
    self.dom = dom
    frame.setTitle(.newPoll)
    let form = dom.element("form", "ma-form", in: frame.body)
    question = Field(dom, .pollQuestion, in: form)
    list = dom.element("div", "ma-form", in: form)
    more = dom.button("ma-button", .pollAddAnswer, icon: .plus, in: form)
    frame.setFirst(question.input)
    for _ in 0..<2 { addAnswer() }
    dom.on(more, .click) { [self] _ in
      addAnswer()
      answers.last?.focus()
      dom.flush()
    }
    dom.check(Strings[.pollSeveral], isOn: false, in: form) { [self] in isSeveral = $0 }
    dom.check(Strings[.pollDisclosed], isOn: true, in: form) { [self] in isDisclosed = $0 }
    dom.check(Strings[.sendSilently], isOn: false, in: form) { [self] in isSilent = $0 }
    let trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    dom.button("ma-button ma-primary", .send, submits: true, in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in
      if let poll {
        frame.close()
        send(poll, isSilent)
      } else {
        dom.setText(trouble, .pollIncomplete)
        dom.flush()
      }
    }
  }

  /// nil while something is missing.
  private var poll: OutgoingPoll? {
    let texts = answers.map { ByteString($0.text.trimmed) }.filter { !$0.isEmpty }
    let asked = ByteString(question.text.trimmed)
    guard !asked.isEmpty, texts.count >= 2 else { return nil }
    return OutgoingPoll(question: asked, answers: texts, isDisclosed: isDisclosed, selectionLimit: isSeveral ? texts.count : 1)
  }

  private func addAnswer() {
    answers.append(Field(dom, Strings[.pollAnswer, "\(answers.count + 1)"], in: list))
    dom.setFlag(more, "hidden", answers.count >= PollDialog.answersLimit)
  }
}

extension DOM {
  /// A box to tick.
  @discardableResult
  func check(_ text: String, isOn: Bool, in parent: Node, _ changed: @escaping (Bool) -> Void) -> Node {
    let line = element("label", "ma-check", in: parent)
    let box = element("input", in: line)
    setAttribute(box, "type", "checkbox")
    setFlag(box, "checked", isOn)
    element("span", text: text, in: line)
    on(box, .change) { changed($0.x == 1) }
    return box
  }
}
