import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Chooses somebody whom the others are to get to know.
struct ContactDialog<D: DOM> {
  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>, _ send: @escaping (OutgoingMessage) -> Void) {
    let dom = app.dom
    frame.setTitle(.shareContact)
    let form = dom.element("form", "ma-form", in: frame.body)
    let picker = PeoplePicker(
      app, .one, .personField, hint: .personHint, name: "ma-contact", offersAtOnce: true, at: form
    ) { frame.isOpen }
    frame.setFirst(picker.input)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    dom.button("ma-button ma-primary", .send, submits: true, in: buttons)
    picker.onTake = { user in
      let name = picker.name(of: user)
      frame.close()
      send(.contact(user, name: name))
    }
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { _ in _ = picker.settle() }
  }
}

extension OutgoingMessage {
  /// A link to a person and nothing else, which every client leads to them; this one shows it as a card. It mentions nobody.
  static func contact(_ user: UserID, name: ByteString) -> OutgoingMessage {
    let link = Permalink(.user(user)).matrixTo
    let html = "<a href=\"" + HTML.escape(link).string + "\">" + HTML.escape(name).string + "</a>"
    var text = FormattedText.html(ByteString(html), body: ByteString(name.string + " (" + link.string + ")"))
    text.mentions = Mentions()
    text.unpreviewed = [link]
    return .message(text)
  }
}

extension MessageContent {
  /// Whoever the message is about, if it is but a link to somebody whom it does not mention.
  /// - Parameters:
  ///   - text: what it says.
  ///   - name: of members of the room; nil for others.
  func sharedContact(_ text: RichText, name: (UserID) -> String?) -> ContactBody? {
    guard text.blocks.count == 1, case .paragraph(let spans) = text.blocks[0], spans.count == 1,
      case .mention(let mention) = spans[0], let user = UserID(mention.id), let mentions, !mentions.room,
      !mentions.users.contains(user)
    else { return nil }
    let link = Permalink(.user(user)).matrixTo
    let shown = name(user) ?? calledName(of: user, link) ?? user.string
    return ContactBody(name: shown, address: user.string, url: link.string)
  }

  /// What the sender calls them; not if it looks like somebody else's ID.
  private func calledName(of user: UserID, _ link: ByteString) -> String? {
    let end = Array((" (" + link.string + ")").utf8)
    guard body.utf8.count > end.count, Array(body.utf8.suffix(end.count)) == end else { return nil }
    let called = ByteString(decoding: body.utf8.dropLast(end.count))
    guard !ShownName.isMisleading(called, of: user) else { return nil }
    let shown = ShownName.visible(called)
    return shown.isEmpty ? nil : shown.string
  }
}
