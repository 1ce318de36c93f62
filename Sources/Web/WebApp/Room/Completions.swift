import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// What a word that is being written may become: a member behind `@`, an emoji or a picture behind `:`, a command behind `/`.
/// Source: ARIA Authoring Practices, "Combobox".
final class Completions<D: DOM> {
  private struct Choice {
    /// Stands in the text; of a person the ID.
    let text: String
    let label: String
    /// Of a person the ID, if others have the name too.
    let note: String
    /// The label is where a picture is.
    var isPicture = false
    var person: PeopleFinder.Person?
  }

  private static var list: RoomListID { 3 }
  private static var shownLimit: Int { 8 }
  /// Of pictures, so that some emoji are among them.
  private static var picturesLimit: Int { 5 }
  /// Bytes of a word that are looked for.
  private static var wordLimit: Int { 40 }

  private let writer: Writer<D>
  private let dom: D
  private let list: Node
  private var choices: [Choice] = []
  private var options: [Node] = []
  private var chosen = 0
  /// The bytes that a choice takes the place of.
  private var range = 0..<0
  /// Whether what is completed is a name, of which more may come.
  private var isNaming = false

  init(_ writer: Writer<D>, in box: Node) {
    self.writer = writer
    dom = writer.dom
    list = dom.element("div", "ma-completions", in: box)
    dom.setAttribute(list, "role", "listbox")
    dom.setAttribute(list, "id", "ma-completions")
    dom.setLabel(list, .completions)
    dom.setFlag(list, "hidden", true)
    dom.setAttribute(writer.composer.field, "aria-controls", "ma-completions")
    dom.setAttribute(writer.composer.field, "aria-autocomplete", "list")
  }

  func hide() {
    guard !choices.isEmpty else { return }
    choices = []
    show()
  }

  // MARK: Finding

  func update() {
    find()
    chosen = 0
    show()
  }

  private func find() {
    choices = []
    isNaming = false
    let text = Array(writer.composer.text.utf8)
    let caret = min(writer.composer.caret, text.count)
    var start = caret
    while start > 0, text[start - 1] > 0x20, caret - start <= Completions.wordLimit { start -= 1 }
    guard start < caret, caret - start <= Completions.wordLimit else { return }
    let word = String(decoding: text[start + 1..<caret], as: UTF8.self)
    range = start..<caret
    switch text[start] {
    case UInt8(ascii: "@"): choices = wholeRoom(word) + groups(word) + people(word)
    case UInt8(ascii: "#") where !word.utf8.isEmpty: choices = rooms(word)
    case UInt8(ascii: ":") where word.utf8.count >= 2:
      addPictures(word.asciiLowercased)
      let shelf = writer.app.emoji
      if shelf.all.isEmpty { return shelf.load { [self] in if !shelf.all.isEmpty, writer.key != nil { more() } } }
      for emoji in Emoji.matching(word, in: shelf.all, limit: Completions.shownLimit - choices.count) {
        choices.append(Choice(text: emoji.text, label: emoji.text, note: emoji.name))
      }
    case UInt8(ascii: "/") where start == 0:
      for name in SlashCommand.names { offer(String(decoding: ByteTable.bytes(name), as: UTF8.self), behind: word) }
      for name in writer.app.embedding?.commands ?? [] { offer(name, behind: word) }
    default: break
    }
  }

  /// Those of whose names a word begins so.
  private func addPictures(_ word: String) {
    writer.loadEmoticons { [self] in more() }
    for emoticon in writer.app.emoticons.all where choices.count < Completions.picturesLimit {
      guard let rank = Match.rank(emoticon.shortcode.string.asciiLowercased, word), rank < 2 else { continue }
      let name = ":" + emoticon.shortcode.string + ":"
      choices.append(Choice(text: name, label: writer.app.emojiSource(emoticon.source), note: name, isPicture: true))
    }
  }

  /// A command that begins so.
  private func offer(_ command: String, behind word: String) {
    guard Match.rank(command, word.asciiLowercased) == 0 else { return }
    choices.append(Choice(text: "/" + command + " ", label: "/" + command, note: ""))
  }

  /// `@room`, for those who may call everybody.
  private func wholeRoom(_ word: String) -> [Choice] {
    guard let room = writer.room, let user = writer.app.userID, room.can(.notifyRoom, by: user) ?? false,
      Match.rank("room", word.asciiLowercased) == 0
    else { return [] }
    return [Choice(text: "@room ", label: "@room", note: Strings[.wholeRoom])]
  }

  /// Groups that have somebody.
  private func groups(_ word: String) -> [Choice] {
    guard let room = writer.room else { return [] }
    var found: [Choice] = []
    for group in MentionGroup.all where Match.rank(group.word, word.asciiLowercased) == 0 {
      guard !group.users(of: room, writer.app).isEmpty else { continue }
      found.append(Choice(text: "@" + group.word + " ", label: "@" + group.word, note: Strings[group.note]))
    }
    for group in room.groups {
      let name = group.name.string
      guard Match.rank(name.asciiLowercased, word.asciiLowercased) == 0 else { continue }
      let count = group.called(in: room, writer.app).count
      guard count > 0 else { continue }
      found.append(Choice(text: "@" + name + " ", label: "@" + name, note: Strings[.members, count: count]))
    }
    return found
  }

  /// Rooms that have an address, those whose name fits best first.
  private func rooms(_ word: String) -> [Choice] {
    let app = writer.app
    var found: [Choice] = []
    app.ask(.roomList(.open(Completions.list, .search(ByteString(word)))))
    for id in app.client.roomList(Completions.list)?.rooms(in: .all) ?? [] where found.count < Completions.shownLimit {
      guard let room = app.client.room(id), let alias = room.canonicalAlias?.string else { continue }
      found.append(Choice(text: alias + " ", label: Strings.words(for: room.name), note: alias))
    }
    app.ask(.roomList(.close(Completions.list)))
    return found
  }

  /// Who spoke last comes first among those whose name fits as well.
  private func people(_ word: String) -> [Choice] {
    guard let room = writer.room else { return [] }
    isNaming = true
    let crowd = writer.crowd
    crowd.gather(room)
    crowd.finder.preferred = Crowd<D>.speakers(room)
    crowd.look(for: ByteString(word))
    return crowd.finder.found.map { person in
      let id = person.userID.string
      return Choice(
        text: id, label: person.name.string, note: crowd.finder.sharesName(person) ? id : "", person: person)
    }
  }

  /// More names have come.
  func moreNames() {
    guard isNaming, !choices.isEmpty || writer.composer.text.utf8.contains(UInt8(ascii: "@")) else { return }
    more()
  }

  /// There is more to choose from.
  private func more() {
    let old = choices.map { $0.text }
    let kept = choices.indices.contains(chosen) ? choices[chosen].text : ""
    find()
    // What the reader is about to take stays.
    chosen = choices.firstIndex { $0.text.hasSameBytes(as: kept) } ?? 0
    if !old.elementsEqual(choices.map { $0.text }, by: { $0.hasSameBytes(as: $1) }) { show() }
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
      // The rich editor makes a mention of the name.
      if choice.person != nil { dom.setAttribute(option, "data-user", choice.text) }
      if choice.isPicture {
        let image = dom.element("img", "mg-emoji", in: option)
        dom.setAttribute(image, "alt", "")
        dom.setImage(image, choice.label)
      } else {
        dom.element("span", "ma-completion-name", text: choice.label, in: option)
      }
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
    let choice = choices[index]
    let text = choice.person.map { "@" + writer.crowd.choose($0) + " " } ?? choice.text
    choices = []
    writer.composer.replace(range, with: text)
    hide()
    writer.composer.focus()
  }
}
