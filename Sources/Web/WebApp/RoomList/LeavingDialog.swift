import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Many rooms are left by one request, which the server may go on with for a while. Who closes the dialog hears of the end all the same.
final class LeavingDialog<D: DOM> {
  private static var pauseMilliseconds: Double { 1_000 }

  private let app: App<D>
  private let frame: DialogFrame<D>
  private let rooms: [RoomID]
  private let status: Node
  private let bar: Node

  @discardableResult
  init(_ app: App<D>, _ rooms: [RoomID], in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.rooms = rooms
    let dom = app.dom
    frame.setTitle(.leaving)
    status = dom.element("p", in: frame.body)
    dom.setAttribute(status, "role", "status")
    bar = dom.element("progress", "ma-progress", in: frame.body)
    dom.setLabel(bar, .leaving)
    app.ask(.leave(rooms)) { [self] in took($0, of: nil) }
  }

  /// - Parameter known: the job that was asked for; nil where it is to begin.
  private func took(_ result: Result<BulkLeave, ClientError>, of known: ByteString?) {
    switch result {
    case .failure(let error):
      // The server goes on with it, whatever becomes of the question.
      if case .refused = error {} else if let known { return askAgain(known) }
      tell(Strings.words(for: error))
    case .success(let job):
      if job.isFinished { return end(job) }
      if frame.isOpen { show(job) }
      askAgain(job.job)
    }
  }

  private func askAgain(_ job: ByteString) {
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      guard app.userID != nil else { return }
      app.ask(.bulkLeave(job)) { [self] in took($0, of: job) }
    }
  }

  private func show(_ job: BulkLeave) {
    let (done, total) = ("\(job.done)", "\(job.total)")
    app.dom.setText(status, Strings[.leftCount, done, total])
    app.dom.setAttribute(bar, "value", done)
    app.dom.setAttribute(bar, "max", total)
  }

  /// Names each room that one is still in, with the reason.
  private func end(_ job: BulkLeave) {
    var trouble: [String] = []
    for id in rooms {
      guard let code = job.errors[id] else { continue }
      let name = app.client.room(id).map { Strings.words(for: $0.name) } ?? id.string
      trouble.append(Strings[.notLeft, name, Strings.words(for: .refused(status: 403, code: code, message: ""))])
    }
    if !trouble.isEmpty { return tell(trouble.joined(separator: "\n")) }
    frame.close()
    app.notices.show(Strings[.roomsLeft, count: rooms.count])
  }

  private func tell(_ trouble: String) {
    guard frame.isOpen else { return app.notices.show(trouble, isTrouble: true) }
    app.dom.setFlag(bar, "hidden", true)
    app.dom.setText(status, "")
    app.dom.setText(frame.trouble(in: frame.body), trouble)
  }
}
