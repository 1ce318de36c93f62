import Messenger

/// A message of every kind of part.
struct DemoParts {
  let bodies: [(Sender, MessageRow.Body, Surroundings?)]

  init(alice: Sender, boris: Sender, me: Sender) {
    let picture = ImageBody(
      name: "venue.jpg", thumbnail: nil, width: 800, height: 500, blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let loaded = ImageBody(name: "poster.jpg", thumbnail: "picture.svg", width: 900, height: 600)
    var wave: [UInt8] = []
    for bar in 0..<90 { wave.append(UInt8(bar * 53 % 200 + bar % 50)) }
    bodies = [
      (alice, .parts([.rich(DemoParts.text)]), Surroundings(reactions: DemoParts.reactions)),
      (
        boris, .parts([.audio(AudioBody(name: "voice.ogg", durationMilliseconds: 31_000, waveform: wave, isVoice: true))]),
        nil
      ),
      (
        boris, .text("Antwort: ja, gern!"),
        Surroundings(
          reply: ReplyQuote(
            sender: alice, text: "One more thing: the venue asked whether we need the big screen", row: RowID(15)),
          thread: ThreadChip(replyCount: 12, lastSender: alice, lastText: "then it is settled", isUnread: true))
      ),
      (me, .parts([.image(picture), .text("Two parts: a picture whose bytes are not here yet, and this.")]), nil),
      (
        me,
        .parts([
          .gallery(GalleryBody(items: [loaded, picture, loaded, picture, loaded].map { .init($0) }, layout: .grid(rows: 2)))
        ]), Surroundings(footer: "via Bridge", readers: [alice, boris], readerCount: 14)
      ),
      (
        alice,
        .parts([
          .gallery(
            GalleryBody(items: [loaded, picture, loaded, picture].map { .init($0, isVideo: true) }, layout: .row))
        ]), nil
      ),
      (alice, .parts([.video(VideoBody(poster: loaded, durationMilliseconds: 83_000))]), nil),
      (alice, .parts([.sticker(ImageBody(name: "martlet", thumbnail: "picture.svg", width: 160, height: 160))]), nil),
      (
        boris,
        .parts([
          .poll(
            PollBody(
              question: "Which evening?",
              answers: [
                .init(id: "a", text: "Thursday", votes: 5, isOwn: true), .init(id: "b", text: "Friday", votes: 2),
                .init(id: "c", text: "יום שבת", votes: 1)
              ], voterCount: 8))
        ]), nil
      ),
      (
        me, .parts([.location(LocationBody(name: "Alter Schlachthof", detail: "49.0069° N, 8.4256° E", isLive: true))]),
        nil
      ),
      (
        alice,
        .parts([
          .text("https://example.org/stage"),
          .preview(
            LinkPreview(
              url: "https://example.org/stage", title: "The stage, its plans and its lights",
              text: "Everything about the stage in the old slaughterhouse: measures, lights, sound, and whom to ask.",
              site: "example.org", picture: ImageBody(name: "", thumbnail: "picture.svg", width: 300, height: 120)))
        ]), nil
      )
    ]
  }

  static let reactions = [
    Reaction(key: "👍", count: 4, isOwn: true, people: "You, Boris and 2 others"), Reaction(key: "🎉", count: 1),
    Reaction(key: "lgtm", count: 23)
  ]

  static let text = RichText([
    .heading(level: 2, [.text("Running order")]),
    .paragraph([
      .text("With "), .styled(.bold, [.text("bold")]), .text(", "), .styled(.italic, [.text("italic")]), .text(", "),
      .styled(.strike, [.text("struck")]), .text(", "), .styled(.code, [.text("code()")]), .text(", a "),
      .link(url: "https://example.org", [.text("link")]), .text(", "),
      .mention(Mention(id: "@boris:example.org", name: "Борис")),
      .text(" and "), .mention(Mention(id: "@me:example.org", name: "Me", isReader: true)), .text(". The end: "),
      .spoiler(reason: "", [.text("the piano was in tune")])
    ]),
    .quote([
      .paragraph([.text("Quoted once.")]), .quote([.paragraph([.text("זה משפט מימין לשמאל")])])
    ]),
    .list(
      start: nil,
      [[.paragraph([.text("first")])], [.paragraph([.text("second")]), .list(start: 3, [[.paragraph([.text("third of it")])]])]]
    ),
    .code("func land() -> Never {\n  fatalError(\"a martlet never lands\")\n}", language: "swift"),
    .table(
      head: [[.text("what")], [.text("when")]],
      rows: [[[.text("doors")], [.text("19:00")]], [[.text("music")], [.text("20:00")]]]),
    .rule, .paragraph([.text("Call +49 721 123 456-78 for keys.")])
  ])
}
