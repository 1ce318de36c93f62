import MessengerTesting
import Testing

@testable import Messenger

@Suite("The composer")
struct ComposerTests {
  final class Desk {
    let dom = FakeDOM()
    let composer: Composer<FakeDOM>
    var sent: [String] = []
    var accepts = true
    var drafts: [String] = []
    var typing: [Bool] = []

    init() {
      composer = Composer(dom: dom)
      dom.append(composer.root, to: .root)
      composer.onSend = { [unowned self] text in
        sent.append(text)
        return accepts
      }
      composer.onDraft = { [unowned self] in drafts.append($0) }
      composer.onTyping = { [unowned self] in typing.append($0) }
    }

    var field: FakeElement { dom[composer.root].first("mg-input")! }
    func element(_ name: String) -> FakeElement { dom[composer.root].first(name)! }
    func type(_ text: String) { dom.fire(.input, on: field.node, text: text) }
    @discardableResult
    func press(_ key: String, _ modifiers: Modifiers = []) -> EventReply {
      dom.fire(.keyDown, on: field.node, text: key, modifiers: modifiers)
    }
  }

  // Proves J24
  @Test("Enter sends the trimmed text and empties the box")
  func sends() {
    let desk = Desk()
    desk.type("  hello \n")
    #expect(desk.press("Enter") == .preventDefault)
    #expect(desk.sent == ["hello"])
    #expect(desk.composer.text == "" && desk.field.value == "")
    #expect(desk.drafts == ["  hello \n", ""])
    #expect(desk.typing == [true, false])
    #expect(desk.dom.focused == desk.field.node)
  }

  // Proves W16
  @Test(
    "Shift-Enter, and Enter of an input method, send nothing",
    arguments: [Modifiers.shift, .composing, [.composing, .shift]])
  func breaksLine(modifiers: Modifiers) {
    let desk = Desk()
    desk.type("hello")
    #expect(desk.press("Enter", modifiers) == .pass)
    #expect(desk.sent.isEmpty && desk.composer.text == "hello")
  }

  @Test("A refused text stays in the box")
  func refused() {
    let desk = Desk()
    desk.accepts = false
    desk.type("hello")
    desk.press("Enter")
    #expect(desk.sent == ["hello"] && desk.composer.text == "hello" && desk.drafts == ["hello"])
  }

  // Proves J24
  @Test("Nothing is never sent", arguments: ["", " ", "\n\t "])
  func empty(text: String) {
    let desk = Desk()
    desk.type(text)
    #expect(desk.press("Enter") == .preventDefault)
    #expect(desk.sent.isEmpty)
    #expect(desk.element("mg-send").attributes["disabled"] != nil)
  }

  // Proves T2
  @Test("The longest text is sent, one more is not, and the counter says why")
  func length() {
    let desk = Desk()
    desk.composer.maximumLength = 20
    desk.type(String(repeating: "ä", count: 17))
    #expect(desk.element("mg-counter").text == "")
    desk.type(String(repeating: "😀", count: 21))
    #expect(desk.element("mg-counter").text == "1 over the limit")
    desk.press("Enter")
    #expect(desk.sent.isEmpty)
    desk.type(String(repeating: "😀", count: 20))
    #expect(desk.element("mg-counter").text == "0 left")
    desk.press("Enter")
    #expect(desk.sent.count == 1)
  }

  @Test("A draft is put in silently")
  func draft() {
    let desk = Desk()
    desk.composer.setText("unfinished")
    #expect(desk.field.value == "unfinished" && desk.drafts.isEmpty && desk.typing.isEmpty)
    desk.dom.fire(.click, on: desk.element("mg-send").node)
    #expect(desk.sent == ["unfinished"])
  }

  // Proves N13
  @Test("Without permission nothing is sent or taken")
  func disabled() {
    let desk = Desk()
    var files = 0
    desk.composer.onFiles = { files += $0.count }
    desk.composer.setText("x")
    desk.composer.setEnabled(false, placeholder: "You cannot write here")
    desk.press("Enter")
    let file = PickedFile(handle: 1, name: "a", mediaType: "", byteCount: 1, width: 0, height: 0) { _ in }
    desk.dom.fire(.files, on: desk.composer.root, files: [file])
    #expect(desk.sent.isEmpty && files == 0)
    #expect(desk.field.attributes["placeholder"] == "You cannot write here")
    desk.composer.setEnabled(true)
    desk.dom.fire(.files, on: desk.field.node, files: [file])
    #expect(files == 1)
  }

  @Test("Other keys go to the host")
  func otherKeys() {
    let desk = Desk()
    desk.composer.onKey = { event in
      if case .escape = event.key { return .preventDefault }
      return .pass
    }
    #expect(desk.press("Escape") == .preventDefault)
    #expect(desk.press("a") == .pass)
  }
}
