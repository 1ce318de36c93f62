import MessengerTesting
import Testing

@testable import Messenger

@Suite("What a host counts")
struct MeasureTests {
  // Proves T23
  @Test("Each try of something is told, and how it ended: texts, fetches, what is done with rows")
  func view() throws {
    let dom = FakeDOM()
    let options = TimelineOptions.with([.openSender, .reply])
    let view = MessengerView(dom: dom, options: options, composer: MessengerView<FakeDOM>.standardComposer())
    dom.append(view.root, to: .root)
    dom.fire(.resize, on: view.timeline.parts.scroller, x: 600, y: 800)
    var told: [Measure] = []
    view.onMeasure = { told.append($0) }
    func taken() -> [Measure] {
      defer { told = [] }
      return told
    }
    #expect(!view.submit("x") && taken() == [Measure(.send, .attempt), Measure(.send, .failure)])
    view.onSubmit = { _ in true }
    let field = try #require(dom[view.root].first("mg-input")).node
    dom.fire(.input, on: field, text: "hello")
    dom.fire(.keyDown, on: field, text: "Enter")
    #expect(taken() == [Measure(.send, .attempt), Measure(.send, .success)])
    view.onNeedOlder = {}
    #expect(taken() == [Measure(.fetchOlder, .attempt)])
    view.endOlder([], .more(.failed))
    view.endOlder([.text("late", from: bob)])
    #expect(taken() == [Measure(.fetchOlder, .failure)])
    view.setTail(.more(.idle))
    view.endNewer([.text("x", from: bob)], .live)
    #expect(taken() == [Measure(.fetchNewer, .attempt), Measure(.fetchNewer, .success)])
    dom.fire(.click, on: try #require(dom[view.root].all("mg-avatar").first { $0.tag == "button" }).node)
    view.onAction = { _ in true }
    dom.fire(.click, on: try #require(dom[view.root].all("mg-avatar").first { $0.tag == "button" }).node)
    let acts = [Measure.Outcome.attempt, .failure, .attempt, .success].map { Measure(.act, $0) }
    #expect(taken() == acts)
  }

  // Proves T23
  @Test(
    "A text chat counts what it sends once, when it knows how it ended, and what comes in, the connection and the close button")
  func chat() throws {
    let dom = FakeDOM()
    var configuration = TextChatConfiguration(senderID: "me", alias: "Me")
    configuration.confirmsSending = true
    configuration.hasCloseButton = true
    let chat = TextChat(dom: dom, configuration: configuration, now: { 0 })
    var told: [Measure] = []
    chat.onMeasure = { told.append($0) }
    var handles: [RowHandle] = []
    chat.onReadyToSend = {
      handles.append($0.handle)
      return true
    }
    chat.send("")
    chat.send("one")
    #expect(told == [Measure(.send, .attempt), Measure(.send, .failure), Measure(.send, .attempt)])
    told = []
    chat.setState(handles[0], .failed)
    chat.setState(handles[0], .sending)
    chat.setState(handles[0], .sent)
    #expect(told == [Measure(.send, .failure), Measure(.send, .success)])
    told = []
    chat.addMessage("hi", senderID: "you", alias: "You")
    chat.setConnected(false)
    chat.setConnected(true)
    dom.fire(.click, on: try #require(dom[chat.root].first("mg-chat-close")).node)
    #expect(
      told == [
        Measure(.receive, .success), Measure(.disconnect, .success), Measure(.connect, .success), Measure(.close, .attempt),
        Measure(.close, .failure)
      ])
  }
}
