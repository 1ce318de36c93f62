import ClientCore
import JSON
import MatrixModel
import Messenger

/// A field for a member of a room, who is offered as one types: by name or ID.
final class MemberField<D: DOM> {
  let crowd: Crowd<D>
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let field: Field<D>
  private let people: Node
  private let chose: (UserID) -> Void

  /// - Parameter id: of the list in the page, which may have several.
  init(
    _ app: App<D>, _ room: RoomID, _ label: Strings.Key, id: String, in parent: Node, _ chose: @escaping (UserID) -> Void
  ) {
    self.app = app
    self.room = room
    self.chose = chose
    dom = app.dom
    crowd = Crowd(app)
    field = Field(dom, label, hint: .saidByHint, in: parent)
    people = dom.element("datalist", in: parent)
    dom.setAttribute(people, "id", id)
    dom.setAttribute(field.input, "list", id)
    field.onInput = { [self] in suggest() }
    crowd.onChange = { [self] in suggest() }
  }

  /// Takes a complete ID from the field. Returns false if the field holds no user ID.
  func take() -> Bool {
    guard let user = UserID(field.text.trimmed) else { return false }
    choose(user)
    return true
  }

  private func choose(_ user: UserID) {
    field.set("")
    chose(user)
  }

  private func suggest() {
    let text = field.text.trimmed
    guard let state = app.client.room(room), !text.utf8.isEmpty else { return }
    crowd.gather(state)
    if let user = UserID(text), user == app.userID || crowd.people.contains(where: { $0.user == user }) { return choose(user) }
    let wanted = Array(text.asciiLowercased.utf8)
    dom.releaseChildren(of: people)
    if let user = app.userID { offer(user, state.displayName(of: user).string) }
    var count = 0
    for person in crowd.people where count < 8 {
      guard Match.rank(person.lower, wanted) ?? Match.rank(person.user.text.utf8, wanted) != nil else { continue }
      count += 1
      offer(person.user, person.name.string)
    }
  }

  private func offer(_ user: UserID, _ name: String) {
    dom.setAttribute(dom.element("option", text: name, in: people), "value", user.string)
  }
}

extension DOM {
  /// Something that was chosen, to be taken away by a click.
  @discardableResult
  func chip(_ words: String, in parent: Node, _ remove: @escaping () -> Void) -> Node {
    let chip = button("ma-chip", words, label: Strings[.removeNamed, words], in: parent)
    Drawing.close.draw(self, in: chip)
    on(chip, .click) { _ in remove() }
    return chip
  }
}
