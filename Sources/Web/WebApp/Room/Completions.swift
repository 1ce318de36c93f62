import ClientCore
import JSON
import MatrixModel
import Messenger

/// What a word that is being written may become: a member behind `@`, an emoji behind `:`, a command behind `/`.
/// Source: ARIA Authoring Practices, "Combobox".
final class Completions<D: DOM> {
  private struct Choice {
    /// Stands in the text.
    let text: String
    let label: String
    let note: String
  }

  /// A member, ready to be looked for.
  private struct Known {
    let user: UserID
    let name: String
    let lower: String
  }

  private static var shownLimit: Int { 8 }
  /// Bytes of a word that are looked for.
  private static var wordLimit: Int { 40 }
  /// Latest messages whose authors come first.
  private static var recentItems: Int { 100 }

  private let writer: Writer<D>
  private let dom: D
  private let list: Node
  private var choices: [Choice] = []
  private var options: [Node] = []
  private var chosen = 0
  /// The bytes that a choice takes the place of.
  private var range = 0..<0
  private var members: [Known]?

  init(_ writer: Writer<D>, in box: Node) {
    self.writer = writer
    dom = writer.dom
    list = dom.element("div", "ma-completions", in: box)
    dom.setAttribute(list, "role", "listbox")
    dom.setAttribute(list, "id", "ma-completions")
    dom.setLabel(list, Strings[.completions])
    dom.setFlag(list, "hidden", true)
    dom.setAttribute(writer.composer.field, "aria-controls", "ma-completions")
    dom.setAttribute(writer.composer.field, "aria-autocomplete", "list")
  }

  /// The members or the room are others.
  func forget() {
    members = nil
    hide()
  }

  func hide() {
    guard !choices.isEmpty else { return }
    choices = []
    show()
  }

  // MARK: Finding

  func update() {
    choices = []
    let text = Array(writer.composer.text.utf8)
    let caret = min(writer.composer.caret, text.count)
    var start = caret
    while start > 0, text[start - 1] > 0x20, caret - start <= Completions.wordLimit { start -= 1 }
    guard start < caret, caret - start <= Completions.wordLimit else { return show() }
    let word = String(decoding: text[start + 1..<caret], as: UTF8.self)
    range = start..<caret
    switch text[start] {
    case UInt8(ascii: "@"): choices = people(word)
    case UInt8(ascii: ":") where word.utf8.count >= 2:
      choices = Emoji.matching(word, limit: Completions.shownLimit).map { Choice(text: $0.text, label: $0.text, note: $0.name) }
    case UInt8(ascii: "/") where start == 0:
      for name in SlashCommand.names {
        let name = String(decoding: ByteTable.bytes(name), as: UTF8.self)
        if Match.rank(name, word.asciiLowercased) == 0 {
          choices.append(Choice(text: "/" + name + " ", label: "/" + name, note: ""))
        }
      }
    default: break
    }
    chosen = 0
    show()
  }

  private func people(_ word: String) -> [Choice] {
    guard let room = writer.room else { return [] }
    let wanted = word.asciiLowercased
    let recent = self.recent(room)
    var ranked: [(rank: Int, known: Known)] = []
    for known in allMembers(room) {
      guard let fits = Match.rank(known.lower, wanted) ?? Match.rank(known.user.string, wanted).map({ $0 + 3 }) else {
        continue
      }
      // Who spoke last comes first among those whose name fits as well.
      let spoke = recent.firstIndex(of: known.user) ?? Completions.recentItems
      ranked.append((fits * (Completions.recentItems + 1) + spoke, known))
    }
    let best = ranked.ordered { $0.rank < $1.rank }.prefix(Completions.shownLimit)
    return best.map { Choice(text: "@" + $0.known.name + " ", label: $0.known.name, note: $0.known.user.string) }
  }

  private func allMembers(_ room: Room) -> [Known] {
    if let members { return members }
    if !room.hasAllMembers { writer.app.ask(.loadMembers(room.id)) }
    var known: [Known] = []
    for member in room.members where member.userID != writer.app.userID {
      let name = room.displayName(of: member.userID).string
      known.append(Known(user: member.userID, name: name, lower: name.asciiLowercased))
    }
    members = known
    return known
  }

  private func recent(_ room: Room) -> [UserID] {
    var users: [UserID] = []
    for item in room.timeline.items.suffix(Completions.recentItems).reversed() where !users.contains(item.sender) {
      users.append(item.sender)
    }
    return users
  }

  // MARK: Showing

  private func show() {
    // Most keys complete nothing.
    if choices.isEmpty, options.isEmpty { return }
    dom.releaseChildren(of: list)
    options = []
    dom.setFlag(list, "hidden", choices.isEmpty)
    for (index, choice) in choices.enumerated() {
      let option = dom.element("div", "ma-completion", in: list)
      dom.setAttribute(option, "role", "option")
      dom.setAttribute(option, "id", "ma-completion-\(index)")
      dom.element("span", "ma-completion-name", text: choice.label, in: option)
      if !choice.note.utf8.isEmpty { dom.element("span", "ma-completion-note", text: choice.note, in: option) }
      dom.on(option, .click) { [self] _ in take(index) }
      options.append(option)
    }
    mark()
    dom.flush()
  }

  private func mark() {
    for (index, option) in options.enumerated() {
      dom.setAttribute(option, "aria-selected", index == chosen ? "true" : "false")
    }
    let field = writer.composer.field
    if options.isEmpty {
      dom.removeAttribute(field, dom.atom("aria-activedescendant"))
    } else {
      dom.setAttribute(field, "aria-activedescendant", "ma-completion-\(chosen)")
    }
  }

  func pressed(_ event: PageEvent) -> EventReply {
    guard !choices.isEmpty, !event.modifiers.contains(.shift) else { return .pass }
    switch event.key {
    case .arrowDown: chosen = (chosen + 1) % choices.count
    case .arrowUp: chosen = (chosen + choices.count - 1) % choices.count
    case .enter, .tab:
      take(chosen)
      return .preventDefault
    case .escape:
      hide()
      return .preventDefault
    default: return .pass
    }
    mark()
    dom.flush()
    return .preventDefault
  }

  private func take(_ index: Int) {
    guard choices.indices.contains(index) else { return }
    let text = choices[index].text
    choices = []
    writer.composer.replace(range, with: text)
    hide()
    writer.composer.focus()
  }
}
