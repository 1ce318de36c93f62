import MessengerTesting
import Testing

@testable import Messenger

@Suite("Rows in the page")
struct TimelineRowTests {
  @Test("A local echo keeps its element when it becomes an event, by identity or by replacement")
  func echo() throws {
    let screen = Screen()
    screen.timeline.load([message(1), message(2, from: me, state: .sending)], head: .hidden)
    let element = try #require(screen.element(RowID(2)))
    #expect(element.has("mg-pending") && element.allText.contains("Sending"))
    screen.timeline.apply([.update(message(2, from: me))])
    #expect(screen.element(RowID(2)) === element)
    #expect(!element.has("mg-pending") && !element.allText.contains("Sending"))
    screen.timeline.apply([.replace(RowID(2), with: message(77, from: me))])
    #expect(screen.element(RowID(77)) === element)
    #expect(screen.timeline.contains(RowID(77)) && !screen.timeline.contains(RowID(2)))
  }

  @Test("Replacing by a row that is already there leaves one of them")
  func replaceByKnown() {
    let screen = Screen()
    screen.timeline.load([message(1), message(2, from: me, state: .sending), message(3, from: me)], head: .hidden)
    screen.timeline.apply([.replace(RowID(2), with: message(3, from: me))])
    #expect(screen.timeline.count == 2)
    #expect(screen.visible().map(\.id) == [RowID(1), RowID(3)])
  }

  // Proves C16
  @Test("Unknown identities are harmless")
  func unknown() {
    let screen = Screen()
    screen.timeline.load([message(1)], head: .hidden)
    screen.timeline.apply([
      .update(message(5)), .remove(RowID(6)), .replace(RowID(7), with: message(8)),
      .insert([message(9)], before: RowID(10)),
      .insertAfter([message(11)], after: RowID(12))
    ])
    screen.timeline.apply([])
    screen.timeline.setDivider(above: RowID(44))
    #expect(screen.timeline.count == 1 && screen.visible().count == 1)
    #expect(screen.timeline.row(RowID(1)) != nil && screen.timeline.row(RowID(5)) == nil)
  }

  @Test("Removing everything and adding again works")
  func emptied() {
    let screen = Screen()
    screen.timeline.load([message(1), message(2)], head: .hidden)
    screen.timeline.apply([.remove(RowID(1)), .remove(RowID(2))])
    #expect(screen.visible().isEmpty && screen.timeline.count == 0)
    screen.timeline.apply([.append([message(3)])])
    #expect(screen.visible().map(\.id) == [RowID(3)])
  }

  // Proves T8
  @Test("Groups are made again where rows come and go")
  func regrouping() throws {
    let screen = Screen()
    screen.timeline.load([message(1, at: 0), message(2, at: 10), message(3, at: 20)], head: .hidden)
    #expect(try #require(screen.element(RowID(2))).has("mg-first") == false)
    screen.timeline.apply([.remove(RowID(1))])
    let second = try #require(screen.element(RowID(2)))
    #expect(second.has("mg-first") && second.has("mg-has-date") && second.first("mg-name")?.text == "Alice Ay")
    screen.timeline.apply([.insert([message(9, from: bob, at: 15)], before: RowID(3))])
    #expect(try #require(screen.element(RowID(3))).has("mg-first"))
    #expect(try #require(screen.element(RowID(2))).has("mg-last"))
    screen.timeline.apply([.remove(RowID(9))])
    #expect(try #require(screen.element(RowID(3))).has("mg-first") == false)
    #expect(try #require(screen.element(RowID(3))).first("mg-name")?.text == "")
  }

  @Test("A recycled element shows nothing of its former row")
  func recycling() {
    let screen = Screen()
    var rows: [TimelineRow] = []
    for id in UInt64(1)...400 {
      rows.append(
        message(id, id % 2 == 0 ? "see https://example.org/\(id) there" : "plain \(id)", from: id % 5 == 0 ? me : alice)
      )
    }
    screen.timeline.load(rows, head: .hidden)
    for step in 0..<40 {
      screen.scroll(to: Double(step * 733 % 20_000))
      for view in screen.timeline.rendered {
        let id = view.id.rawValue
        let expected = id % 2 == 0 ? "see https://example.org/\(id) there" : "plain \(id)"
        #expect(screen.dom[view.slot(.text)].allText == expected)
        #expect(view.links.count == (id % 2 == 0 ? 1 : 0))
      }
    }
    let live = screen.dom.liveNodeCount
    for step in 0..<40 { screen.scroll(to: Double(step * 733 % 20_000)) }
    #expect(screen.dom.liveNodeCount <= live + 40)
  }

  @Test("Text reaches the page as text only")
  func escaping() {
    let screen = Screen()
    let markup = "<img src=x onerror=alert(1)> & </article>"
    screen.timeline.load([message(1, markup)], head: .hidden)
    let text = screen.element(RowID(1))!.first("mg-text")!
    #expect(text.text == markup && text.children.isEmpty)
  }

  // Proves W3
  @Test("An image's place does not change when the image arrives or its upload goes on")
  func imageHeight() throws {
    func image(_ thumbnail: String?, _ progress: Double?) -> TimelineRow {
      let body = ImageBody(name: "p.png", thumbnail: thumbnail, width: 800, height: 600, uploadProgress: progress)
      return TimelineRow(
        id: RowID(1), timestampMilliseconds: 0,
        content: .message(MessageRow(sender: me, body: .image(body), sendState: progress == nil ? .sent : .sending)))
    }
    let screen = Screen()
    screen.timeline.load([image(nil, 0), message(2, from: bob, at: 10)], head: .hidden)
    let row = try #require(screen.element(RowID(1)))
    let open = try #require(row.first("mg-picture"))
    let progress = try #require(row.first("mg-progress"))
    let height = open.lengths[.height]
    #expect(!progress.isHidden && height == 240)
    screen.timeline.apply([.update(image("blob:1", 0.5))])
    #expect(row.first("mg-progress-bar")?.variables["--mg-progress"] == 0.5)
    screen.timeline.apply([.update(image("https://example.org/t", nil))])
    #expect(progress.isHidden)
    #expect(row.first("mg-picture") === open && open.lengths[.height] == height)
    let picture = try #require(row.first("mg-picture-image"))
    #expect(picture.image == "https://example.org/t")
    screen.dom.fire(.click, on: picture.node)
    #expect(screen.actions.first?.contains("openMedia") == true)
  }

  @Test("Values without sense are shown without a trap", arguments: [Double.nan, -1, 2, .infinity])
  func senseless(progress: Double) throws {
    let screen = Screen()
    let body = FileBody(name: "", detail: "", uploadProgress: progress)
    let content = TimelineRow.Content.message(
      MessageRow(sender: Sender(id: "", name: "", isOwn: true), body: .file(body), unreadMembers: -3))
    let rows = [Int64.min, .max].enumerated().map {
      TimelineRow(id: RowID(UInt64($0.offset)), timestampMilliseconds: $0.element, content: content)
    }
    screen.timeline.load(rows, head: .hidden, at: ReadingPosition(row: RowID(0), offset: progress))
    let bar = try #require(screen.element(RowID(0))?.first("mg-progress-bar"))
    #expect(bar.variables["--mg-progress"] == (progress > 0 ? 1 : 0))
  }

  // Proves C52, W34
  @Test("A failed message offers to try again and to give up")
  func failed() throws {
    let screen = Screen()
    screen.timeline.load([message(1, from: me, state: .failed)], head: .hidden)
    #expect(screen.element(RowID(1))?.has("mg-failed") == true)
    screen.dom.fire(.click, on: try #require(screen.slot(RowID(1), .retry)))
    screen.dom.fire(.click, on: try #require(screen.slot(RowID(1), .cancel)))
    #expect(screen.actions.count == 2)
    #expect(screen.actions[0].contains("retry") && screen.actions[1].contains("cancel"))
  }

  // Proves P15
  @Test("An upload can be given up while it waits or runs, a text not", arguments: [SendState.queued, .sending])
  func uploading(state: SendState) throws {
    let screen = Screen()
    let file = MessageRow.Body.file(FileBody(name: "a.txt", detail: "1 KB", uploadProgress: 0.5))
    screen.timeline.load(
      [message(1, from: me, state: state), message(2, from: me, body: file, state: state), message(3, from: me, body: file)],
      head: .hidden)
    #expect(screen.element(RowID(1))?.has("mg-uploading") == false)
    #expect(screen.element(RowID(2))?.has("mg-uploading") == true)
    #expect(screen.element(RowID(3))?.has("mg-uploading") == false)
    screen.dom.fire(.click, on: try #require(screen.slot(RowID(2), .cancel)))
    #expect(screen.actions.count == 1 && screen.actions[0].contains("cancel"))
  }

  @Test("A link is opened by the browser unless the host takes it", arguments: [false, true])
  func links(isTaken: Bool) throws {
    let screen = Screen()
    screen.handlesLinks = isTaken
    screen.timeline.load([message(1, "to https://example.org/x")], head: .hidden)
    let link = try #require(screen.timeline.rendered[0].links.first)
    #expect(screen.dom[link.node].attributes["href"] == "https://example.org/x")
    #expect(screen.dom[link.node].attributes["rel"] == "noopener noreferrer")
    #expect(screen.dom.fire(.click, on: link.node) == (isTaken ? .preventDefault : .pass))
    #expect(screen.actions.first?.contains("https://example.org/x") == true)
  }

  // Proves J52
  @Test(
    "Every kind of body is shown",
    arguments: [
      (MessageRow.Body.text("t"), "t"), (.emote("waves"), "Alice Ay waves"), (.notice("n"), "n"),
      (.redacted, "Message deleted"),
      (.undecryptable(""), "This message could not be decrypted yet."), (.undecryptable("Wait."), "Wait."),
      (.unsupported(""), "This kind of message is not supported here."),
      (.unsupported("fallback"), "fallback"), (.file(FileBody(name: "a.pdf", detail: "2 MB")), "a.pdf2 MB")
    ])
  func bodies(body: MessageRow.Body, expected: String) throws {
    let screen = Screen()
    let row = TimelineRow(
      id: RowID(1), timestampMilliseconds: 0, content: .message(MessageRow(sender: alice, body: body)))
    screen.timeline.load([row], head: .hidden)
    #expect(screen.element(RowID(1))?.first("mg-bubble")?.allText == expected)
  }

  @Test("What stands above a row is said before it: the day, and that new messages begin; of rows that follow it no more")
  func above() throws {
    let screen = Screen()
    let day = screen.timeline.options.dayLabel(0)
    let divider = screen.timeline.options.phrases.newMessagesDivider
    let line = TimelineRow(id: RowID(1), timestampMilliseconds: 0, content: .line("Bob joined"))
    screen.timeline.load([line, message(2, "one", at: 60), message(3, "two", at: 61)], head: .hidden, divider: RowID(2))
    func said(_ id: UInt64) -> String { screen.element(RowID(id))?.attributes["aria-label"] ?? "" }
    #expect(said(1) == "\(day). Bob joined")
    #expect(said(2).hasPrefix("\(divider). Alice Ay, ") && said(3).hasPrefix("Alice Ay, "))
    screen.timeline.setDivider(above: nil)
    #expect(said(2).hasPrefix("Alice Ay, "))
    #expect(screen.element(RowID(2))?.first("mg-edited")?.attributes["aria-hidden"] == "true")
  }

  // Proves C65
  @Test("Badges: edited, and how many have not read it")
  func badges() throws {
    let screen = Screen()
    var content = MessageRow(sender: me, body: .text("x"), isEdited: true, unreadMembers: 3)
    screen.timeline.load(
      [TimelineRow(id: RowID(1), timestampMilliseconds: 0, content: .message(content))], head: .hidden)
    let element = try #require(screen.element(RowID(1)))
    #expect(element.first("mg-unread")?.text == "3" && element.first("mg-edited")?.text == "edited")
    #expect(element.attributes["aria-label"]?.contains("Me, 0:00") == true)
    content.unreadMembers = 0
    content.isEdited = false
    screen.timeline.apply([.update(TimelineRow(id: RowID(1), timestampMilliseconds: 0, content: .message(content)))])
    #expect(element.first("mg-unread")?.text == "" && element.first("mg-edited")?.text == "")
  }

  @Test("A row that changes its kind gets another element in the same place")
  func changesKind() {
    let screen = Screen()
    screen.timeline.load([message(1), message(2), message(3)], head: .hidden)
    screen.timeline.apply([.update(TimelineRow(id: RowID(2), timestampMilliseconds: 120_000, content: .line("gone")))])
    #expect(screen.visible().map(\.id) == [RowID(1), RowID(2), RowID(3)])
    #expect(screen.element(RowID(2))?.has("mg-line") == true)
  }

  @Test("One new message comes in moving, a crowd does not")
  func entering() {
    let screen = Screen()
    screen.timeline.load([message(1)], head: .hidden)
    screen.timeline.apply([.append([message(2)])])
    #expect(screen.element(RowID(2))?.has("mg-entering") == true)
    screen.timeline.apply([.append((3...20).map { message($0) })])
    #expect(screen.element(RowID(20))?.has("mg-entering") == false)
  }

  @Test("Closing releases every element")
  func close() {
    let dom = FakeDOM()
    let before = dom.liveNodeCount
    let timeline = Timeline(dom: dom)
    dom.append(timeline.root, to: .root)
    dom.fire(.resize, on: timeline.parts.scroller, x: 600, y: 800)
    timeline.load((1...200).map { message($0) }, head: .start)
    dom.fire(.scroll, on: timeline.parts.scroller, x: 100, y: 800)
    timeline.close()
    #expect(dom.liveNodeCount == before)
    timeline.apply([.append([message(900)])])
  }

  @Test("A swipe answers the message it was made on, where messages can be answered")
  func swipe() throws {
    let screen = Screen(options: .with([.reply]))
    screen.timeline.load([message(1), message(2, at: 9_000)], head: .hidden)
    screen.dom.fire(.swipe, on: try #require(screen.slot(RowID(2), .text)))
    screen.dom.fire(.swipe, on: screen.scroller)
    #expect(screen.actions == ["\(TimelineAction.reply(RowID(2)))"])
    let other = Screen(options: .with([.menu]))
    other.timeline.load([message(1)], head: .hidden)
    other.dom.fire(.swipe, on: try #require(other.slot(RowID(1), .text)))
    #expect(other.actions.isEmpty)
  }

  @Test("Every message has its time, for when all of them are shown")
  func times() {
    let screen = Screen()
    screen.timeline.load([message(1, at: 60), message(2, at: 61), message(3, at: 62)], head: .hidden)
    for id in 1...3 as ClosedRange<UInt64> {
      #expect(screen.slot(RowID(id), .time).map { !screen.dom[$0].text.isEmpty } == true)
    }
  }
}
