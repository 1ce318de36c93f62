import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Emoji to pick from: by category, by name, and the pictures of a room's packs. A popover's content.
final class EmojiPicker<D: DOM> {
  /// Pictures of packs; of more the search finds some.
  private static var picturesLimit: Int { 200 }
  /// Emoji that are often used: three lines.
  private static var favouritesLimit: Int { 21 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let room: RoomID?
  private let picked: (String) -> Void
  private let field: Field<D>
  private let tabs: Node
  private let grid: Node
  private var tone = Host.setting(Settings.skinTone) ?? ""
  /// What Enter takes: a picture only where it was looked for.
  private var first: String?
  /// Enter was pressed before the emoji were here.
  private var isEntered = false
  /// What stands in the grid, from the top: pictures have no category.
  private var parts: [(category: Emoji.Category?, node: Node)] = []

  /// - Parameter room: whose pictures, and the account's, stand above the emoji; they are picked by their name between colons.
  @discardableResult
  init(
    _ app: App<D>, _ title: Strings.Key = .emojiTitle, in frame: DialogFrame<D>, at parent: Node? = nil,
    picturesOf room: RoomID? = nil, _ picked: @escaping (String) -> Void
  ) {
    self.app = app
    self.frame = frame
    self.room = room
    self.picked = picked
    dom = app.dom
    let parent = parent ?? frame.body
    frame.setTitle(Strings[title], look: "ma-picker-box")
    let bar = dom.element("div", "ma-picker-bar", in: parent)
    field = Field(dom, .emojiSearch, in: bar)
    dom.setAttribute(field.input, "placeholder", Strings[.emojiSearch])
    frame.setFirst(field.input)
    let tones = Choice(dom, Strings[.skinTone], Emoji.tones.map { ($0, "✋" + $0) }, selected: tone, in: bar)
    tabs = dom.element("div", "ma-emoji-tabs", in: parent)
    dom.setAttribute(tabs, "role", "toolbar")
    grid = dom.element("div", "ma-emoji-grid", in: parent)
    field.onInput = { [self] in show() }
    dom.listen(field.input, .keyDown) { [self] event in
      guard case .enter = event.key else { return .pass }
      if let first { pick(first) } else { isEntered = app.emoji.all.isEmpty }
      return .preventDefault
    }
    tones.onChange = { [self] in
      tone = $0
      Host.setSetting(Settings.skinTone, tone.utf8.isEmpty ? nil : tone)
      show()
      dom.flush()
    }
    if let room { app.loadEmoticons(of: room) { [self] in showMore() } }
    app.emoji.load { [self] in showMore() }
  }

  private func showMore() {
    guard frame.isOpen else { return }
    show()
    if isEntered, let first { return pick(first) }
    dom.flush()
  }

  private func show() {
    dom.releaseChildren(of: grid)
    first = nil
    parts = []
    let words = field.text.trimmed
    let isSought = !words.utf8.isEmpty
    let hasPictures = addPictures(words)
    let all = app.emoji.all
    if isSought {
      let found = Emoji.matching(words, in: all)
      let part = begin(nil, found.isEmpty || !hasPictures ? nil : Strings[.emoji])
      if found.isEmpty, !hasPictures { dom.element("p", "ma-note", text: .noEmoji, in: part) }
      for emoji in found { add(emoji, in: part) }
    } else if all.isEmpty {
      dom.element("p", "ma-note", text: .serverSilent, in: begin(nil))
    } else {
      addCategories(all)
    }
    dom.setFlag(tabs, "hidden", isSought || all.isEmpty)
  }

  private func addPictures(_ words: String) -> Bool {
    guard room != nil else { return false }
    var pack: ByteString?
    var part = Node.none
    for picture in app.emoticons.matching(words, limit: Self.picturesLimit) {
      if picture.pack != pack { part = begin(nil, picture.pack.string) }
      pack = picture.pack
      let name = ":" + picture.shortcode.string + ":"
      let image = dom.element("img", "mg-emoji", in: add(name, name, "", in: part))
      dom.setAttribute(image, "alt", "")
      dom.setImage(image, app.emojiSource(picture.source))
    }
    return pack != nil
  }

  private func addCategories(_ all: [Emoji]) {
    var part = begin(.often, Strings[Emoji.Category.often.words])
    let common = all.prefix { $0.category == .often }
    let favourites = app.emoji.habits.favourites(Self.favouritesLimit, besides: common.map { $0.text(tone: tone) })
    for text in favourites { add(text, name(of: text, in: all), text, in: part) }
    var category = Emoji.Category.often
    for emoji in all where emoji.category != .often {
      if emoji.category != category { part = begin(emoji.category, Strings[emoji.category.words]) }
      category = emoji.category
      add(emoji, in: part)
    }
    showTabs()
  }

  private func name(of text: String, in all: [Emoji]) -> String {
    all.first { $0.text.hasSameBytes(as: text) || $0.text(tone: tone).hasSameBytes(as: text) }?.name ?? text
  }

  private func begin(_ category: Emoji.Category?, _ title: String? = nil) -> Node {
    let part = dom.element("div", "ma-emoji-part", in: grid)
    if let title { dom.element("h3", "ma-field-label", text: title, in: part) }
    parts.append((category, part))
    return part
  }

  /// Where categories are gone to.
  private func showTabs() {
    dom.releaseChildren(of: tabs)
    for (index, part) in parts.enumerated() {
      guard let category = part.category else { continue }
      let tab = dom.element("button", "ma-emoji-tab", text: category.sign, in: tabs)
      dom.setAttribute(tab, "type", "button")
      dom.setLabel(tab, category.words)
      dom.setAttribute(tab, "title", Strings[category.words])
      dom.on(tab, .click) { [self] _ in goTo(index) }
    }
  }

  private func goTo(_ index: Int) {
    let above = dom.measure(parts.prefix(index).map { $0.node }).reduce(0, +)
    dom.setLength(grid, .scrollTop, Double(above))
    dom.flush()
  }

  private func add(_ emoji: Emoji, in part: Node) {
    let text = emoji.text(tone: tone)
    add(text, emoji.name, text, in: part)
  }

  @discardableResult
  private func add(_ text: String, _ name: String, _ shown: String, in part: Node) -> Node {
    if first == nil, !field.text.trimmed.utf8.isEmpty || text.utf8.first != UInt8(ascii: ":") { first = text }
    let button = dom.element("button", "ma-emoji", text: shown, in: part)
    dom.setAttribute(button, "type", "button")
    dom.setLabel(button, name)
    dom.setAttribute(button, "title", name)
    dom.on(button, .click) { [self] _ in pick(text) }
    return button
  }

  private func pick(_ text: String) {
    app.emoji.habits.pick(text)
    picked(text)
  }
}

extension Emoji.Category {
  var words: Strings.Key {
    switch self {
    case .often: .emojiRecent
    case .people: .emojiPeople
    case .nature: .emojiNature
    case .food: .emojiFood
    case .activities: .emojiActivities
    case .travel: .emojiTravel
    case .objects: .emojiObjects
    case .symbols: .emojiSymbols
    case .flags: .emojiFlags
    }
  }

  /// What stands for it on its tab.
  var sign: String {
    switch self {
    case .often: "🕘"
    case .people: "😀"
    case .nature: "🐻"
    case .food: "🍔"
    case .activities: "⚽"
    case .travel: "🚗"
    case .objects: "💡"
    case .symbols: "🔣"
    case .flags: "🏁"
    }
  }
}
