import MessengerTesting
import Testing

@testable import Messenger

@Suite("Parts of messages")
struct PartTests {
  static let picture = ImageBody(name: "p", thumbnail: "blob:p", width: 400, height: 200)

  // Proves C8, N1, N2, N3, N4, N5, W33
  @Test("A message has any parts in order, and an update changes what is shown")
  func composed() {
    let screen = Screen(options: .with(.all))
    let element = screen.show(.parts([.text("before"), .image(Self.picture), .image(Self.picture), .text("after https://a.b")]))
    #expect(element.first("mg-parts")?.children.map(\.tag) == ["div", "button", "button", "div"])
    #expect(element.first("mg-parts")?.allText == "beforeafter https://a.b")
    #expect(element.has("mg-composed") && element.has("mg-media"))
    screen.click(element.all("mg-picture")[1])
    #expect(screen.actions.last?.contains("part: 2") == true)
    screen.show(.parts([.text("only")]))
    #expect(element.first("mg-parts")?.allText == "only" && !element.has("mg-media"))
    screen.show(.text("plain"))
    #expect(element.first("mg-parts")?.children.isEmpty == true && !element.has("mg-composed"))
    #expect(element.first("mg-bubble")?.allText == "plain")
  }

  // Proves W27
  @Test("A picture keeps its element while the rest of its message changes")
  func kept() {
    let screen = Screen()
    let element = screen.show(.parts([.image(Self.picture), .text("a")]))
    let box = element.first("mg-picture")
    screen.show(.parts([.image(Self.picture), .text("b")]), Surroundings(reactions: [Reaction(key: "x", count: 2)]))
    #expect(element.first("mg-picture") === box && element.first("mg-part-text")?.text == "b")
  }

  @Test("A video is called one while its bytes go up, and once they have")
  func videoName() {
    let screen = Screen(options: .with(.all))
    for progress in [0.2, 0.9, nil] {
      var poster = Self.picture
      poster.uploadProgress = progress
      let box = screen.show(.parts([.video(VideoBody(poster: poster))])).first("mg-picture")
      #expect(box?.attributes["aria-label"] == "Open video " + poster.name)
    }
  }

  // Proves B2
  @Test(
    "Heights of pictures, galleries and fixed custom content are known before anything is loaded",
    arguments: [
      ContentPart.image(picture), .sticker(picture), .video(VideoBody(poster: picture, durationMilliseconds: 61_000)),
      .image(ImageBody(name: "", thumbnail: nil, width: 0, height: 0)),
      .image(ImageBody(name: "", thumbnail: nil, width: .max, height: 1)),
      .gallery(GalleryBody(items: Array(repeating: .init(picture), count: 7), layout: .grid(rows: 2))),
      .gallery(GalleryBody(items: Array(repeating: .init(picture), count: 7), layout: .row)),
      .gallery(GalleryBody(items: [], layout: .grid(rows: 0)))
    ])
  func reserved(part: ContentPart) {
    let screen = Screen()
    let element = screen.show(.parts([part]))
    let box = element.first("mg-parts")!.children[0]
    #expect(box.lengths[.height] == Double(part.estimate(600)))
    #expect((box.lengths[.width] ?? 0) <= 320 && (box.lengths[.width] ?? -1) >= 0)
  }

  // Proves N1, N2, N3, N4, N5, W33
  @Test("A grid has as many columns as its rows take; a row scrolls sideways; too many are counted")
  func gallery() {
    func items(_ count: Int) -> [GalleryBody.Item] { Array(repeating: .init(Self.picture), count: count) }
    let plan = GalleryPlan(GalleryBody(items: items(5), layout: .grid(rows: 2)), timelineWidth: 600)
    #expect(plan.cells.count == 5 && plan.cells[0].width == 104 && plan.width == 320 && plan.height == 212)
    let screen = Screen(options: .with(.all))
    let element = screen.show(.parts([.gallery(GalleryBody(items: items(70), layout: .row))]))
    #expect(element.all("mg-picture").count == GalleryBody.itemsLimit)
    #expect(element.first("mg-gallery-more")?.text == "+10" && element.first("mg-gallery-row") != nil)
    screen.click(element.all("mg-picture")[3])
    #expect(screen.actions.last?.contains("item: 3") == true)
  }

  @Test("A poll shows votes, and a click gives the whole choice; a closed one takes none")
  func poll() {
    let screen = Screen(options: .with(.all))
    var poll = PollBody(
      question: "When?",
      answers: [.init(id: "a", text: "Mon", votes: 3, isOwn: true), .init(id: "b", text: "Tue", votes: 1)], voterCount: 4)
    let element = screen.show(.parts([.poll(poll)]))
    #expect(element.all("mg-answer-bar").map { $0.variables["--mg-share"] } == [0.75, 0.25])
    #expect(element.all("mg-answer").map { $0.attributes["aria-pressed"] } == ["true", "false"])
    screen.click(element.all("mg-answer")[1])
    #expect(screen.actions.last?.contains(#"answers: ["b"]"#) == true)
    screen.click(element.all("mg-answer")[0])
    #expect(screen.actions.last?.contains("answers: []") == true)
    poll.choiceLimit = 2
    #expect(poll.choice(switching: 1) == ["a", "b"] && poll.choice(switching: 0) == [] && poll.choice(switching: 7) == nil)
    poll.answers.append(.init(id: "c", text: "Wed", votes: nil, isOwn: true))
    #expect(poll.choice(switching: 1) == nil, "no more than the limit")
    poll.isEnded = true
    screen.show(.parts([.poll(poll)]))
    #expect(element.all("mg-answer").allSatisfy { $0.tag == "span" } && element.all("mg-answer-votes").count == 2)
    #expect(element.first("mg-poll-note")?.text.contains("Final") == true)
  }

  // Proves P12, W27
  @Test("A sound is played by the host: the row shows where it stands without being laid out again")
  func audio() throws {
    let screen = Screen(options: .with([.play, .openFile]))
    let audio = AudioBody(name: "v.ogg", durationMilliseconds: 65_000, waveform: [0, 255, 10], isVoice: true)
    let element = screen.show(.parts([.text("hi"), .audio(audio)]))
    screen.click(try #require(element.first("mg-play")))
    #expect(screen.actions.last == "play(Messenger.RowID(rawValue: 1), part: 1)")
    let measured = screen.dom.measureCount
    var fetched = Playback(isPlaying: true, positionMilliseconds: 0, durationMilliseconds: 0)
    fetched.fetched = 0.428
    screen.timeline.setPlayback(RowID(1), part: 1, fetched)
    #expect(element.first("mg-audio-time")?.text == "42 %")
    screen.timeline.setPlayback(
      RowID(1), part: 1, Playback(isPlaying: true, positionMilliseconds: 13_000, durationMilliseconds: 65_000))
    #expect(element.first("mg-track")?.variables["--mg-played"] == 0.2)
    #expect(element.first("mg-audio-time")?.text == "0:13 / 1:05" && element.first("mg-playing") != nil)
    #expect(screen.dom.measureCount == measured)
    screen.dom.fire(.change, on: try #require(element.first("mg-seek")).node, text: "500")
    #expect(screen.actions.last?.contains("fraction: 0.5") == true)
    #expect(screen.dom.fire(.keyDown, on: try #require(element.first("mg-seek")).node, text: "ArrowUp") == .pass)
    screen.show(.parts([.text("hi again"), .audio(audio)]))
    #expect(element.first("mg-playing") != nil, "an update does not forget what plays")
    screen.timeline.setPlayback(RowID(1), part: 1, nil)
    #expect(element.first("mg-playing") == nil && element.first("mg-audio-time")?.text == "1:05")
    screen.timeline.setPlayback(RowID(77), part: 9, Playback(isPlaying: true, positionMilliseconds: 1, durationMilliseconds: 0))
  }

  @Test("A waveform of any length gives the same number of bars", arguments: [0, 1, 47, 48, 49, 5000])
  func bars(count: Int) {
    var wave = [UInt8](repeating: 7, count: count)
    if count > 0 { wave[count - 1] = 200 }
    let bars = AudioBody(name: "", waveform: wave).bars
    #expect(bars.count == AudioBody.barCount && (count == 0 || bars.last == 200))
  }

  // Proves P8, P36
  @Test("Places, previews and files: what a click does, and that hostile addresses lead nowhere")
  func cards() throws {
    let screen = Screen(options: .with(.all))
    var element = screen.show(.parts([.location(LocationBody(name: "", detail: "1° N", isLive: true))]))
    #expect(element.first("mg-file-name")?.text == "Location" && element.first("mg-live") != nil)
    screen.click(try #require(element.first("mg-file-name")))
    #expect(screen.actions.last?.contains("openLocation") == true)
    element = screen.show(.parts([.preview(LinkPreview(url: "https://a.b", title: "T", text: "x", picture: Self.picture))]))
    #expect(element.first("mg-preview")?.attributes["href"] == "https://a.b")
    screen.click(try #require(element.first("mg-preview-title")))
    #expect(screen.actions.last?.contains("https://a.b") == true)
    element = screen.show(.parts([.preview(LinkPreview(url: "javascript:alert(1)", title: "T"))]))
    #expect(element.tags("a").isEmpty)
  }

  @Test("Contacts are cards of links that call and write, and of text where there is nothing to call")
  func contacts() throws {
    let screen = Screen(options: .with(.all))
    let card = try #require(
      VCard(Array("BEGIN:VCARD\nFN:Ada\nORG:Engines\nTEL:+49 30 12\nTEL:ask\nEMAIL:a@b.de\nEND:VCARD".utf8)))
    let element = screen.show(.parts([.contact(ContactBody(card)), .file(FileBody(name: "ada.vcf", detail: ""))]))
    #expect(element.first("mg-preview")?.attributes["aria-label"] == "Ada")
    #expect(element.first("mg-preview-site")?.text == "Engines")
    #expect(element.tags("a").map { $0.attributes["href"] } == ["tel:+493012", "mailto:a@b.de"])
    screen.click(try #require(element.first("mg-file-name")))
    #expect(screen.actions.last?.contains("openFile") == true && screen.actions.last?.contains("part: 1") == true)
  }

  // Proves P36
  @Test("Hashtags and dates are buttons where the host can do something with them, but neither in links nor in code")
  func terms() throws {
    let screen = Screen(options: .with([.openTerms]))
    var element = screen.show(.text("#seeds on 2026-11-27 14:30"))
    #expect(element.tags("button").map(\.text) == ["#seeds", "2026-11-27 14:30"])
    screen.click(try #require(element.tags("button").first))
    #expect(screen.actions.last?.contains("#seeds") == true)
    screen.click(try #require(element.tags("button").last))
    #expect(screen.actions.last?.contains("date:2026-11-27T14:30") == true)
    let spans: [RichSpan] = [
      .text("#a"), .styled(.code, [.styled(.bold, [.text("#b")]), .text("https://a.example")]),
      .link(url: "https://a.example", [.text("#c")]), .styled(.bold, [.text("#d")])
    ]
    element = screen.show(.parts([.rich(RichText([.paragraph(spans), .code("#e", language: "")]))]))
    #expect(element.tags("button").map(\.text) == ["#a", "#d"])
    #expect(element.tags("a").count == 2)
    #expect(Screen(options: .with([])).show(.text("#seeds on 2026-11-27")).tags("button").isEmpty)
  }

  @Test("What the host did not enable has no control")
  func noDeadButtons() {
    let screen = Screen(options: .with([]))
    let around = Surroundings(
      reply: ReplyQuote(sender: bob, text: "q"), reactions: (0..<40).map { Reaction(key: "\($0)", count: 1) },
      thread: ThreadChip(replyCount: 2, lastSender: bob, lastText: "t"), readers: [bob])
    let element = screen.show(
      .parts([
        .image(Self.picture), .video(VideoBody(poster: Self.picture)),
        .gallery(GalleryBody(items: [.init(Self.picture)], layout: .row)), .file(FileBody(name: "f", detail: "")),
        .audio(AudioBody(name: "a")), .location(LocationBody(name: "l", detail: "")),
        .poll(PollBody(question: "q", answers: [.init(id: "a", text: "a", votes: 1)])),
        .rich(RichText([.code("c", language: "x"), .paragraph([.mention(Mention(id: "m", name: "m"))])]))
      ]), around)
    #expect(element.tags("button").isEmpty && element.tags("input").isEmpty)
    // Only what needs no host is left: links, hidden text, going to a message that is here.
    let linked = screen.show(.text("x"), Surroundings(reply: ReplyQuote(sender: bob, text: "q", row: RowID(1))))
    #expect(linked.tags("button").count == 1)
  }

  @Test("Custom content stays as it was drawn while other things of its row change; other content is drawn anew")
  func customKept() {
    let screen = Screen()
    var drawn: [String] = []
    var letGo = 0
    screen.timeline.register(
      content: "card",
      ContentRenderer { content, _, _, _ in
        drawn.append(content.payload)
        return { letGo += 1 }
      })
    func show(_ payload: String, _ footer: String) {
      let content = CustomContent(kind: "card", payload: payload, spoken: "a card")
      screen.show(.parts([.custom(content)]), Surroundings(footer: footer))
    }
    show("1", "")
    show("1", "read")
    #expect(drawn == ["1"] && letGo == 0)
    show("2", "read")
    #expect(drawn == ["1", "2"] && letGo == 1)
  }

  // Proves C8, N1, N2, N3, N4, N5, P48
  @Test("Custom content is drawn by the host and let go; without a renderer its words are shown")
  func custom() {
    let screen = Screen()
    var letGo = 0
    let dom = screen.dom
    screen.timeline.register(
      content: "card",
      ContentRenderer { content, row, parent, width in
        dom.element("b", "card", text: content.payload + " \(row.rawValue) \(Int(width))", in: parent)
        return { letGo += 1 }
      })
    let element = screen.show(.parts([.custom(CustomContent(kind: "card", payload: "P", spoken: "a card", height: 99))]))
    #expect(element.first("card")?.text == "P 1 600" && element.first("mg-custom")?.lengths[.height] == 99)
    #expect(element.attributes["aria-label"]?.hasSuffix("a card") == true)
    screen.show(.text("x"))
    #expect(letGo == 1)
    #expect(
      screen.show(.parts([.custom(CustomContent(kind: "?", payload: "P", spoken: "words"))])).first("mg-text")?.text == "words")
  }
}
