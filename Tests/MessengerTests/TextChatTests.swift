import MessengerTesting
import Testing

@testable import Messenger

@Suite("The text chat")
struct TextChatTests {
  final class Desk {
    let dom = FakeDOM()
    let chat: TextChat<FakeDOM>
    var asked: [TextChat<FakeDOM>.Outgoing] = []
    var accepts = true

    init(_ change: (inout TextChatConfiguration) -> Void = { _ in }, composer: MessengerView<FakeDOM>.ComposerMaker? = nil) {
      var configuration = TextChatConfiguration(senderID: "me", alias: "Myself")
      change(&configuration)
      chat = TextChat(dom: dom, configuration: configuration, now: { 50_000 }, composer: composer)
      dom.append(chat.root, to: .root)
      dom.fire(.resize, on: chat.view.timeline.parts.scroller, x: 400, y: 600)
      chat.onReadyToSend = { [unowned self] in
        asked.append($0)
        return accepts
      }
    }

    var root: FakeElement { dom[chat.root] }
    var rows: [FakeElement] { chat.view.timeline.rendered.map { dom[$0.node] } }
    func write(_ text: String) {
      let field = root.first("mg-input")!.node
      dom.fire(.input, on: field, text: text)
      dom.fire(.keyDown, on: field, text: "Enter")
    }
  }

  // Proves C17, P48, T1, T3, T4
  @Test("What is written is there at once, after the host said yes; a no leaves the text in the box")
  func readyToSend() {
    let desk = Desk()
    desk.write("hello")
    #expect(desk.asked.map(\.text) == ["hello"] && desk.asked[0].senderID == "me" && desk.asked[0].alias == "Myself")
    #expect(desk.rows.count == 1 && desk.rows[0].has("mg-own") && desk.root.first("mg-input")?.value == "")
    desk.accepts = false
    desk.write("not this")
    #expect(desk.rows.count == 1 && desk.chat.view.composer.text() == "not this")
    desk.chat.onReadyToSend = nil
    #expect(desk.chat.send("x") == .refused)
  }

  // Proves C17, T2, T16, T17
  @Test("Empty, too long, and without a connection are errors of their own")
  func errors() {
    let desk = Desk { $0.maximumLength = 5 }
    #expect(desk.chat.send(" \n") == .empty && desk.chat.send("123456") == .tooLong(by: 1) && desk.chat.send("12345") == nil)
    desk.chat.setConnected(false, note: "Not connected")
    #expect(desk.chat.send("x") == .notConnected)
    #expect(desk.root.first("mg-input")?.attributes["placeholder"] == "Not connected")
    desk.chat.setConnected(true)
    desk.write("123456")
    #expect(desk.asked.count == 1 && desk.root.first("mg-counter")?.text == "1 over the limit")
  }

  // Proves T3, T6, T9, T10
  @Test("The sender's identity decides the side, a missing time is now, and close messages of one sender are a group")
  func received() {
    let desk = Desk()
    desk.chat.addMessage("a", senderID: "you", alias: "You")
    desk.chat.addMessage("b", senderID: "you", alias: "You", timestampMilliseconds: 50_000 + 119_999)
    desk.chat.addMessage("c", senderID: "you", alias: "You", timestampMilliseconds: 50_000 + 239_999)
    desk.chat.addMessage("d", senderID: "me", alias: "Myself", timestampMilliseconds: 300_000)
    #expect(desk.rows.map { $0.has("mg-first") } == [true, false, true, true])
    #expect(desk.rows.map { $0.has("mg-own") } == [false, false, false, true])
    #expect(desk.rows[0].first("mg-name")?.text == "You" && desk.rows[0].first("mg-initials")?.text == "Y")
    #expect(desk.rows[0].attributes["aria-label"]?.contains("0:00") == true)
    #expect(desk.rows.allSatisfy { $0.first("mg-avatar")?.tag == "span" }, "no button without something it does")
  }

  // Proves C17, T7
  @Test("The echo of an own text confirms it and is not shown twice")
  func echo() {
    let desk = Desk { $0.confirmsSending = true }
    desk.write("hello")
    #expect(desk.rows[0].has("mg-pending"))
    desk.chat.addMessage("hello", senderID: "me", alias: "Myself")
    #expect(desk.rows.count == 1 && !desk.rows[0].has("mg-pending"))
    desk.chat.addMessage("hello", senderID: "me", alias: "Myself")
    #expect(desk.rows.count == 2, "the same text from another device")
    desk.write("fails")
    desk.chat.setState(desk.asked[1].handle, .failed)
    #expect(desk.rows[2].has("mg-failed") && desk.rows[2].first("mg-trouble")?.tags("button").isEmpty == true)
    desk.chat.setState(RowHandle(RowID(999)), .failed)
  }

  // Proves C17, T18, T20, T21
  @Test("Title bar, close button, looks")
  func looks() throws {
    let desk = Desk {
      $0.title = "Room 1"
      $0.hasCloseButton = true
    }
    var closed = 0
    desk.chat.onClose = { closed += 1 }
    #expect(desk.root.first("mg-chat-title")?.text == "Room 1")
    desk.dom.fire(.click, on: try #require(desk.root.first("mg-chat-close")).node)
    #expect(closed == 1 && desk.root.first("mg-primary-tailed") != nil)
    #expect(Desk { $0.look = .house }.root.first("mg-primary-tailed") == nil)
    let custom = Desk()
    let dom = custom.dom
    let other = Desk {
      $0.look = .custom(ContentRenderer { _, _, _, _ in nil })
    }
    other.chat.addMessage("x", senderID: "you", alias: "You")
    #expect(other.root.first("mg-custom") != nil && custom.root.first("mg-chat-bar") == nil)
    let before = dom.liveNodeCount
    custom.chat.addMessage("x", senderID: "you", alias: "You")
    custom.chat.close()
    #expect(dom.liveNodeCount == 1 && before > 1)
  }

  // Proves C18, N13, P48
  @Test("The composer can be another one")
  func composer() {
    var submit: ((String) -> Bool)?
    var enabled: [Bool] = []
    let desk = Desk(composer: { dom, send in
      submit = send
      var face = ComposerFace.absent
      face.root = dom.element("b", "mine")
      face.setEnabled = { isEnabled, _ in enabled.append(isEnabled) }
      return face
    })
    #expect(desk.root.first("mine") != nil && desk.root.first("mg-composer") == nil)
    #expect(submit?("from elsewhere") == true && desk.rows.count == 1)
    desk.chat.setConnected(false)
    #expect(enabled == [false] && submit?("x") == false)
  }
}
