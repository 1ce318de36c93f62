import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// A new space: what it is called, and who may join. Or the way to one that is there already.
struct NewSpaceDialog<D: DOM> {
  private final class Choice {
    var isPublic = false
  }

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    let dom = app.dom
    frame.setTitle(.newSpace)
    dom.element("p", "ma-note", text: .newSpaceNote, in: frame.body)
    let form = dom.element("form", "ma-form", in: frame.body)
    let name = Field(dom, .spaceName, in: form)
    let topic = Field(dom, .topicOptional, in: form)
    let choice = Choice()
    CheckBox(dom, Strings[.anyoneMayJoin], isOn: false, in: form) { choice.isPublic = $0 }
    let trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let find = dom.button("ma-button", .findSpace, in: buttons)
    dom.on(find, .click) { _ in
      frame.close()
      app.dialogs.open(.more) { NewDialog(app, .join, in: $0) }
    }
    let button = SubmitButton(dom, .createSpace, busy: .creating, in: buttons)
    frame.setFirst(name.input)
    dom.on(form, .submit) { _ in
      guard !button.isBusy else { return }
      let title = name.text.trimmed
      guard !title.utf8.isEmpty else {
        name.setError(Strings[.spaceNameMissing])
        name.focus()
        return dom.flush()
      }
      let about = topic.text.trimmed
      var room = NewRoom(
        preset: choice.isPublic ? .publicChat : .privateChat, name: ByteString(title),
        topic: about.utf8.isEmpty ? nil : ByteString(about))
      room.type = NewRoom.spaceType
      frame.enterRoom(app, by: .rooms(.create(room)), button, trouble, failed: { name.focus() })
    }
  }
}
