import Messenger
import WebHost

/// A page with something of everything, for eyes and screenshots: a timeline, a composer that answers, and buttons of
/// the rows that work on local rows only.
final class Demo {
  let dom: BatchDOM
  let timeline: Timeline<BatchDOM>
  let composer: Composer<BatchDOM>
  private let me = Generator.senders[0]
  private let alice = Sender(id: "@alice:example.org", name: "Alice Ashby", isOwn: false)
  private let boris = Sender(id: "@boris:example.org", name: "Борис", isOwn: false)
  private let daisuke = Sender(id: "@daisuke:example.org", name: "大輔", isOwn: false)
  private var nextID: UInt64 = 1000
  private var time: Int64

  init(dom: BatchDOM) {
    self.dom = dom
    time = Host.wallClockMilliseconds()
    let room = dom.element("main", "demo", in: .root)
    let options = Host.timelineOptions()
    options.actions = ActionSet(rawValue: .max)
    timeline = Timeline(dom: dom, options: options)
    composer = Composer(dom: dom)
    let box = dom.element("div", "demo-timeline", in: room)
    dom.append(timeline.root, to: box)
    dom.append(composer.root, to: room)
    composer.acceptDrops(on: box)
    composer.onSend = { [self] text in
      send(text)
      return true
    }
    composer.onAttach = { [self] in Host.pickFiles { self.attach($0) } }
    composer.onFiles = { [self] in attach($0) }
    timeline.onAction = { [self] action in
      switch action {
      case .cancel(let id): timeline.apply([.remove(id)])
      case .play(let id, let part):
        let playback = Playback(isPlaying: true, positionMilliseconds: 12_000, durationMilliseconds: 31_000, rate: 1.5)
        timeline.setPlayback(id, part: part, playback)
      default: return false
      }
      return true
    }
    timeline.load(rows(), head: .start)
    timeline.setDivider(above: RowID(15))
    timeline.setPlayback(
      RowID(21), part: 0, Playback(isPlaying: true, positionMilliseconds: 12_000, durationMilliseconds: 31_000, rate: 1.5))
    timeline.setTyping([TypingMember(alice), TypingMember(daisuke)])
  }

  private func send(_ text: String) {
    nextID += 1
    let id = RowID(nextID)
    let sent = Host.wallClockMilliseconds()
    func row(_ state: SendState) -> TimelineRow {
      TimelineRow(
        id: id, timestampMilliseconds: sent,
        content: .message(
          MessageRow(sender: me, body: .text(text), sendState: state, unreadMembers: state == .sent ? 3 : 0)))
    }
    timeline.apply([.append([row(.sending)])])
    Host.after(milliseconds: 700) { self.timeline.apply([.update(row(.sent))]) }
  }

  private func attach(_ files: [PickedFile]) {
    for file in files where file.isImage {
      nextID += 1
      let image = ImageBody(
        name: file.name, thumbnail: Host.objectURL(file), width: file.width, height: file.height, uploadProgress: 0.4)
      timeline.apply([
        .append([
          TimelineRow(
            id: RowID(nextID), timestampMilliseconds: Host.wallClockMilliseconds(),
            content: .message(MessageRow(sender: me, body: .image(image), sendState: .sending)))
        ])
      ])
    }
  }

  private func rows() -> [TimelineRow] {
    var id: UInt64 = 0
    func row(_ minutesAgo: Int64, _ content: TimelineRow.Content) -> TimelineRow {
      id += 1
      return TimelineRow(id: RowID(id), timestampMilliseconds: time - minutesAgo * 60_000, content: content)
    }
    func message(
      _ minutesAgo: Int64, _ sender: Sender, _ body: MessageRow.Body, _ state: SendState = .sent, edited: Bool = false,
      unread: Int = 0
    ) -> TimelineRow {
      row(
        minutesAgo,
        .message(
          MessageRow(sender: sender, body: body, sendState: state, isEdited: edited, unreadMembers: unread)))
    }
    return [
      row(1_600, .line("Alice Ashby created the room")), row(1_599, .line("大輔 and Борис joined")),
      message(1_500, alice, .text("Morning! The slides for Thursday are up: https://example.org/slides/2026?v=3")),
      message(1_500, alice, .text("Have a look when you find a minute ☕️")),
      message(1_499, alice, .text("No rush.")),
      message(1_495, me, .text("Thanks, on it."), unread: 0),
      message(
        1_494, me,
        .parts([
          .image(ImageBody(name: "sketch.jpg", thumbnail: "picture.svg", width: 1600, height: 1000)),
          .text("First sketch of the stage")
        ])),
      row(300, .gap(.failed)),
      message(200, boris, .text("Привет! Я посмотрю вечером, сейчас в поезде 🚆")),
      message(199, boris, .emote("waves from the window")),
      message(150, daisuke, .text("会議は木曜日の午後三時からでいいですか？")),
      message(149, daisuke, .text("שלום, זה משפט מימין לשמאל")),
      message(140, boris, .redacted), message(120, alice, .undecryptable("")),
      message(
        30, alice,
        .text(
          "One more thing: the venue asked whether we need the big screen, two microphones and the piano. I said yes to the first two. If anybody wants to play the piano, speak up now or be silent until next year."
        ), edited: true),
      message(
        29, alice, .file(FileBody(name: "Programme and running order, final version 3.pdf", detail: "1.4 MB · PDF"))),
      message(28, alice, .image(ImageBody(name: "venue.jpg", thumbnail: "picture.svg", width: 700, height: 1100)))
    ]
      + DemoParts(alice: alice, boris: boris, me: me).bodies.map { sender, body, around in
        id += 1
        return TimelineRow(
          id: RowID(id), timestampMilliseconds: time - 25 * 60_000,
          content: .message(
            MessageRow(sender: sender, body: body, receipt: sender.isOwn ? .read : .hidden, surroundings: around)))
      } + [
        message(20, me, .text("👍"), unread: 2),
        message(19, me, .text("I can bring my own microphone, by the way."), unread: 2),
        message(19, me, .text("See you Thursday!"), unread: 3),
        message(3, boris, .notice("Build 512 passed in 4 min 12 s")),
        message(
          2, me,
          .image(ImageBody(name: "poster.png", thumbnail: "picture.svg", width: 900, height: 600, uploadProgress: 0.62)),
          .sending),
        message(1, me, .text("And the posters are printed."), .failed),
        message(0, me, .text("Waiting for the train to get a signal…"), .queued)
      ]
  }
}
