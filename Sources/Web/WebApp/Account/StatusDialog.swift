import Messenger
import PageWidgets
import WebHost

/// Sets the status that others see beside the user's name: chosen from a few suggestions or typed, for some time or for good.
struct StatusDialog<D: DOM> {
  private static var proposals: [Strings.Key] { [.statusMeeting, .statusLunch, .statusHome, .statusIll, .statusHoliday] }

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    let dom = app.dom
    let kept = OwnStatus.kept
    frame.setTitle(.status)
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = Field(dom, .statusText, hint: .statusHint, in: form)
    field.set(kept.text)
    frame.setFirst(field.input)
    let proposals = dom.element("div", "ma-chips", in: form)
    for key in Self.proposals {
      let chip = dom.button("ma-chip", key, in: proposals)
      dom.on(chip, .click) { _ in
        field.set(Strings[key])
        field.focus()
        dom.flush()
      }
    }
    let options = StatusEnd.allCases.map { (value: $0.rawValue, words: Strings[$0.words]) }
    var end: StatusEnd?
    let first = kept.until > 0 ? [(value: "kept", words: Strings[.statusUntil, "", Host.shortLabel(kept.until)].trimmed)] : []
    Choice(dom, Strings[.clearStatus], first + options, selected: first.first?.value ?? "", in: form) { chosen in
      end = StatusEnd.allCases.first { $0.rawValue.hasSameBytes(as: chosen) }
    }
    let buttons = dom.element("div", "ma-buttons", in: form)
    if !kept.isEmpty {
      let clear = dom.button("ma-button", .removeStatus, in: buttons)
      dom.on(clear, .click) { _ in Self.keep("", 0, app, frame) }
    }
    _ = SubmitButton(dom, .save, busy: .saving, in: buttons)
    dom.on(form, .submit) { _ in Self.keep(field.text.trimmed, end?.moment ?? kept.until, app, frame) }
  }

  private static func keep(_ text: String, _ until: Int64, _ app: App<D>, _ frame: DialogFrame<D>) {
    OwnStatus(text: text, until: until).keep()
    frame.close()
    app.tellPresence(always: true)
  }
}
