import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import Transcripts
import WebHost

/// Asks what of a room, or of all rooms, is exported, and as what; then shows how far it is. What failed goes on where it was.
final class ExportDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let rooms: [Room]
  /// Of all rooms: one file of lines, with the room in each.
  private let isAll: Bool
  private let form: Node
  private let choice: Choice<D>
  private let since: Field<D>
  private let until: Field<D>
  private let trouble: Node
  private let submit: SubmitButton<D>
  private var format = ExportRun.Format.html
  private var bar = Node.none
  private var note = Node.none
  private var run: ExportRun?
  private var file: ExportFile?
  /// Which of the rooms it is at.
  private var place = 0
  /// Events of the rooms before it, and how many of these the server does not show.
  private var count = 0
  private var skipped = 0
  /// A room is larger than an export.
  private var isCut = false

  /// - Parameter room: nil exports all that the user has joined.
  @discardableResult
  init(_ app: App<D>, _ room: Room?, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    isAll = room == nil
    rooms = room.map { [$0] } ?? app.client.roomIDs.compactMap { app.client.room($0) }.filter { $0.membership == .join }
    dom = app.dom
    frame.setTitle(isAll ? .exportAll : .exportTitle)
    form = dom.element("form", "ma-form", in: frame.body)
    dom.element("p", "ma-note", text: isAll ? .exportAllNote : .exportNote, in: form)
    choice = Choice(
      dom, Strings[.exportFormat], [("", Strings[.exportPage]), ("jsonl", Strings[.exportLines])], selected: "", in: form)
    if isAll {
      format = .jsonLines
      dom.setFlag(choice.node, "hidden", true)
    }
    let days = dom.element("div", "ma-export-days", in: form)
    since = Field(dom, .exportSince, kind: "date", in: days)
    until = Field(dom, .exportUntil, kind: "date", in: days)
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    submit = SubmitButton(dom, .exportNow, busy: .exporting, in: buttons)
    frame.setFirst(submit.node)
    choice.onChange = { [self] in format = $0.utf8.isEmpty ? .html : .jsonLines }
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in if !submit.isBusy { begin() } }
    frame.onEnd = { [self] in
      run = nil
      file = nil
    }
  }

  // MARK: Beginning

  private func begin() {
    dom.setText(trouble, "")
    submit.setBusy(true)
    if run != nil { return step() }
    if let first = firstDay, let last = lastDay, last < first { return fail(Strings[.exportDaysWrong]) }
    guard let new = newRun() else { return nothing() }
    let title = isAll ? Strings[.exportAll] : Strings.words(for: rooms[0].name)
    ExportFile.open(named: title + format.fileEnding, mediaType: format.mediaType) { [self] opened in
      guard frame.isOpen else { return }
      // They changed their mind where the file goes.
      guard let opened else { return submit.setBusy(false) }
      (file, run) = (opened, new)
      showProgress()
      step()
    }
  }

  private var firstDay: Int? { CalendarDay(since.text)?.number }
  private var lastDay: Int? { CalendarDay(until.text)?.number }

  /// Of the room that it is at; nil behind the last.
  private func newRun() -> ExportRun? {
    guard rooms.indices.contains(place) else { return nil }
    let room = rooms[place]
    let now = Host.wallClockMilliseconds()
    return ExportRun(
      format, since: firstDay.map { Host.startOfDay($0) }, until: lastDay.map { Host.startOfDay($0 + 1) }, now: now,
      title: Strings.words(for: room.name), topic: room.topic?.string,
      about: Strings[.exportAbout, Host.dateTimeLabel(now)], room: isAll ? room.id : nil, words: .page(of: room, app))
  }

  private func showProgress() {
    for field in [choice.node, since.node, until.node] { dom.setFlag(field, "hidden", true) }
    let place = dom.element("div", "ma-export-progress")
    bar = dom.element("progress", "ma-progress", in: place)
    dom.setAttribute(bar, "max", "1000")
    dom.setLabel(bar, .exporting)
    note = dom.element("p", "ma-note", in: place)
    dom.setAttribute(note, "role", "status")
    dom.insert(place, into: form, before: trouble)
  }

  // MARK: Going on

  /// Carries out what comes next. Nothing does once the dialog is closed.
  private func step() {
    guard let run, let file, frame.isOpen else { return }
    guard rooms.indices.contains(place) else { return finish(file) }
    let room = rooms[place].id
    let part = Int((Double(place) + run.progress) / Double(rooms.count) * 1000)
    dom.setAttribute(bar, "value", "\(part)")
    dom.setText(note, Strings[.exportedSoFar, count: count + run.count])
    dom.flush()
    switch run.next {
    case .findStart(let time): findStart(time, room)
    case .fetch(let from):
      app.ask(.messages(in: room, direction: .forwards, from: from, limit: ExportRun.pageEvents)) { [self] result in
        take(result) { $0.took($1.events, next: $1.nextBatch) }
      }
    case .keep(let bytes): file.keep(bytes) { [self] in wrote($0) }
    case .write(let bytes): file.write(bytes) { [self] in wrote($0) }
    case .read(let ranges):
      file.read(ranges) { [self] parts in
        guard let parts else { return wrote(false) }
        self.run?.read(parts)
        step()
      }
    case .finish: goOn()
    }
  }

  /// The token that stands before the first event of that time.
  private func findStart(_ time: Int64, _ room: RoomID) {
    app.ask(.event(at: time, in: room, direction: .forwards)) { [self] result in
      switch result {
      case .success(let found):
        app.ask(.context(of: found.id, in: room, limit: 1)) { [self] result in
          take(result) { $0.begins(at: $1.start) }
        }
      case .failure(.refused(404, _, _, _)):
        run?.begins(at: nil)
        step()
      case .failure(let error): refused(error)
      }
    }
  }

  /// Of all rooms, those that the server does not show are left out.
  private func refused(_ error: ClientError) {
    guard isAll, case .refused(let status, _, _, _) = error, status == 403 || status == 404 else {
      return fail(Strings.words(for: error))
    }
    skipped += 1
    goOn()
  }

  /// To the next room, or to the end.
  private func goOn() {
    guard let run else { return }
    count += run.count
    if run.isCut { isCut = true }
    place += 1
    if let next = newRun() { self.run = next }
    step()
  }

  private func take<Answer>(_ result: Result<Answer, ClientError>, _ change: (inout ExportRun, Answer) -> Void) {
    switch result {
    case .success(let answer):
      guard var changed = run else { return }
      change(&changed, answer)
      run = changed
      step()
    case .failure(let error): refused(error)
    }
  }

  private func wrote(_ isDone: Bool) {
    guard isDone else { return fail(Strings[.exportNotWritten]) }
    run?.done()
    step()
  }

  private func finish(_ file: ExportFile) {
    guard count > 0 else { return nothing() }
    file.finish { [self] isDone in
      guard frame.isOpen else { return }
      guard isDone else { return fail(Strings[.exportNotWritten]) }
      frame.close()
      var words = isCut ? Strings[.exportCut, "\(count)"] : Strings[.exported, count: count]
      if skipped > 0 { words += " " + Strings[.exportSkipped, count: skipped] }
      app.notices.show(words)
    }
  }

  private func nothing() {
    frame.close()
    app.notices.show(.exportNothing, isTrouble: true)
  }

  /// What was fetched is kept: the button goes on from here.
  private func fail(_ words: String) {
    guard frame.isOpen else { return }
    dom.setText(trouble, words)
    if run != nil { submit.set(.retry, busy: .exporting) }
    submit.setBusy(false)
    dom.focus(submit.node)
    dom.flush()
  }
}

extension TranscriptWords {
  /// The page's own language. Files lead to their messages, where the user opens them with their account.
  fileprivate static func page<D: DOM>(of room: Room, _ app: App<D>) -> TranscriptWords {
    var words = TranscriptWords(
      edited: Strings[.edited], replyMissing: Strings[.replyToMessage], encrypted: Strings[.undecryptable],
      deleted: { by in by.map { Strings[.removedMessageBy, $0] } ?? Strings[.removedMessage] },
      file: { Strings[.file, of: $0] }, message: { $0.exportedWords }, byteCount: { Host.byteCountLabel($0) },
      state: { change, sender, name in Strings.words(for: change, by: sender, name: name) },
      call: { Strings.words(for: $0) }, day: { Host.dateLabel($0) }, clock: { Host.clockLabel($0) })
    words.verification = { Strings.words(for: $0) }
    words.language = Host.language
    words.isRightToLeft = Host.pageState.contains(.rightToLeft)
    words.name = { room.displayName(of: $0).string }
    let base = Host.origin + "/#"
    words.address = { event in
      base + Place.room(room.id).fragment + "/" + PercentEncoding.encode(event.text)
    }
    return words
  }
}

extension MessageContent {
  /// A text as it was written; of what has parts, each in its line.
  fileprivate var exportedWords: String {
    var lines = [body.string]
    for answer in poll?.answers ?? [] { lines.append("– " + answer.text.string) }
    for entry in gallery { lines.append("– " + (entry.attachment?.fileName.string ?? entry.body.string)) }
    return lines.joined(separator: "\n")
  }
}
