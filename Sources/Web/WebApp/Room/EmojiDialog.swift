import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// All emoji with a field to search them.
struct EmojiDialog<D: DOM> {
  /// Pictures of packs; of more the search finds some.
  private static var picturesLimit: Int { 200 }

  /// - Parameter room: whose pictures, and the account's, stand above the emoji; they are picked by their name between colons.
  @discardableResult
  init(
    _ app: App<D>, _ title: Strings.Key = .emojiTitle, in frame: DialogFrame<D>, at parent: Node? = nil,
    picturesOf room: RoomID? = nil, _ picked: @escaping (String) -> Void
  ) {
    let dom = app.dom
    let parent = parent ?? frame.body
    frame.setTitle(Strings[title])
    let field = Field(dom, .emojiSearch, in: parent)
    frame.setFirst(field.input)
    let grid = dom.element("div", "ma-emoji-grid", in: parent)
    let shelf = app.emoji
    var tone = Host.setting(Settings.skinTone) ?? ""
    // What Enter takes: a picture only where it was looked for.
    var first: String?
    func add(_ text: String, _ name: String, _ shown: String) -> Node {
      if first == nil, !field.text.trimmed.utf8.isEmpty || text.utf8.first != UInt8(ascii: ":") { first = text }
      let button = dom.element("button", "ma-emoji", text: shown, in: grid)
      dom.setAttribute(button, "type", "button")
      dom.setLabel(button, name)
      dom.setAttribute(button, "title", name)
      dom.on(button, .click) { _ in picked(text) }
      return button
    }
    func show() {
      dom.releaseChildren(of: grid)
      first = nil
      let words = field.text.trimmed
      let pictures = room == nil ? [] : app.emoticons.matching(words, limit: Self.picturesLimit)
      var pack: ByteString?
      for picture in pictures {
        if picture.pack != pack { dom.element("h3", "ma-field-label", text: picture.pack.string, in: grid) }
        pack = picture.pack
        let name = ":" + picture.shortcode.string + ":"
        let image = dom.element("img", "mg-emoji", in: add(name, name, ""))
        dom.setAttribute(image, "alt", "")
        dom.setImage(image, app.emojiSource(picture.source))
      }
      let found = Emoji.matching(words, in: shelf.all)
      if !found.isEmpty, pack != nil { dom.element("h3", "ma-field-label", text: .emoji, in: grid) }
      if found.isEmpty, pack == nil {
        dom.element("p", "ma-note", text: Strings[shelf.all.isEmpty ? .serverSilent : .noEmoji], in: grid)
      }
      for emoji in found {
        let text = emoji.text(tone: tone)
        _ = add(text, emoji.name, text)
      }
    }
    field.onInput = { show() }
    dom.listen(field.input, .keyDown) { event in
      guard case .enter = event.key, let first else { return .pass }
      picked(first)
      return .preventDefault
    }
    Choice(dom, Strings[.skinTone], Emoji.tones.map { ($0, "✋" + $0) }, selected: tone, in: parent) {
      tone = $0
      Host.setSetting(Settings.skinTone, tone.utf8.isEmpty ? nil : tone)
      show()
      dom.flush()
    }
    func showMore() {
      guard frame.isOpen else { return }
      show()
      dom.flush()
    }
    if let room { app.loadEmoticons(of: room, showMore) }
    shelf.load(showMore)
  }
}
