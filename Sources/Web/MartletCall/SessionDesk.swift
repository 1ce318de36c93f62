import CallCore
import JSON
import WebHost

/// One session of the JavaScript class `MartletCall`: what the page asks for comes in as numbered requests, each is answered once, and
/// what happens goes out as events. `Web/martlet-call.js` has the other half.
final class SessionDesk {
  private(set) var port: FramePort?
  private(set) var host: SessionHost?
  /// The request that waits for the first greeting.
  private var connecting: CommandID = 0
  private var callEvents = CallEvents()

  init() {
    port = FramePort { [self] in take($0) }
    port?.tell("loaded")
  }

  // MARK: In

  func take(_ request: JSON) {
    guard let name = request.text("do"), let number = request.integer("number") else { return }
    let id = CommandID(truncatingIfNeeded: number)
    if name == "connect" { return connect(request, id) }
    guard let host else { return refuse(id, "not_connected") }
    if name == "network" {
      host.handle(.networkChanged)
      return accept(id)
    }
    guard let command = SessionCommand(name, request) else { return refuse(id, "invalid") }
    if case .ended = host.session.state {
      // Leaving twice is not an error.
      if case .leave = command { return accept(id) }
      return refuse(id, "not_connected")
    }
    host.perform(command, id: id)
  }

  private func connect(_ request: JSON, _ id: CommandID) {
    guard host == nil, let url = request["url"]?.string, let session = request.text("session"),
      let token = request.text("token")
    else { return refuse(id, "invalid") }
    let made = SessionHost(address: url, subscribesToAll: false)
    host = made
    connecting = id
    made.onChange = { [self] in changed($0) }
    made.onTrack = { [self] stream, name in
      port?.tell("track") {
        $0.member("stream", stream)
        $0.member("name", name)
      }
    }
    made.perform(.connect(CallToken(token), session: session), id: id)
  }

  // MARK: Out

  private func accept(_ id: CommandID) { port?.answer(Int64(id)) }

  private func refuse(_ id: CommandID, _ code: ByteString, _ message: ByteString = "") {
    port?.answer(Int64(id)) {
      $0.member("code", code)
      if !message.isEmpty { $0.member("message", message) }
    }
  }

  func changed(_ change: SessionChange) {
    guard let session = host?.session else { return }
    if case .finished(let id, let refusal) = change { return finished(id, refusal, session) }
    for event in callEvents.take(change, in: session) { tell(event, session) }
  }

  private func finished(_ id: CommandID, _ refusal: CallRefusal?, _ session: CallSession) {
    guard let refusal else { return accept(id) }
    if id == connecting, case .ended(let reason) = session.state { return refuse(id, reason.code, session.endMessage) }
    guard refusal.code == "media_failed" else { return refuse(id, refusal.code, refusal.message) }
    switch host?.captureFailure {
    case .refused: refuse(id, "media_refused")
    case .missing: refuse(id, "media_missing")
    default: refuse(id, refusal.code)
    }
  }

  private func tell(_ event: CallEvents.Event, _ session: CallSession) {
    switch event {
    case .connected(let own): tellOwn("connected", own, session)
    case .reconnected(let own): tellOwn("reconnected", own, session)
    case .reconnecting: port?.tell("reconnecting")
    case .connectionCreated(let connection): tell("connectionCreated", connection)
    case .connectionChanged(let connection): tell("connectionChanged", connection)
    case .connectionDestroyed(let connection): port?.tell("connectionDestroyed") { $0.member("connection", connection.id) }
    case .streamCreated(let stream): tell("streamCreated", stream)
    case .streamChanged(let stream): tell("streamChanged", stream)
    case .streamDestroyed(let stream): port?.tell("streamDestroyed") { $0.member("stream", stream.id) }
    case .videoDisabled(let stream, let reason): tellOfVideo("videoDisabled", stream, reason)
    case .videoEnabled(let stream, let reason): tellOfVideo("videoEnabled", stream, reason)
    case .publication(let source): publicationChanged(source, session)
    case .speaker:
      port?.tell("speaker") { if let stream = session.speaker { $0.member("stream", stream) } }
    case .recording(let id):
      port?.tell("recording") { if let id { $0.member("archive", id) } }
    case .muting: port?.tell("muteAll") { $0.member("active", session.isMuteOfAllActive) }
    case .signal(let signal):
      port?.tell("signal") {
        $0.member("kind", signal.kind)
        $0.member("data", signal.data)
        if let from = signal.from { $0.member("from", from) }
      }
    case .closed(let reason):
      port?.tell("closed") {
        $0.member("code", reason.code)
        if !session.endMessage.isEmpty { $0.member("message", session.endMessage) }
      }
    }
  }

  private func tellOwn(_ event: StaticString, _ own: CallConnection, _ session: CallSession) {
    port?.tell(event) { writer in
      writer.key("connection")
      own.write(to: &writer)
      writer.member("relayed", session.isRelayed)
    }
  }

  private func tell(_ event: StaticString, _ connection: CallConnection) {
    port?.tell(event) { writer in
      writer.key("connection")
      connection.write(to: &writer)
    }
  }

  private func tell(_ event: StaticString, _ stream: CallStream) {
    port?.tell(event) { writer in
      writer.key("stream")
      stream.write(to: &writer)
    }
  }

  private func tellOfVideo(_ event: StaticString, _ stream: CallStream, _ reason: ByteString) {
    port?.tell(event) {
      $0.member("stream", stream.id)
      $0.member("reason", reason)
    }
  }

  private func publicationChanged(_ source: SourceID, _ session: CallSession) {
    port?.tell("publication") { writer in
      writer.member("source", Int64(source))
      guard let publication = session.publication(source) else { return }
      writer.key("publication")
      publication.write(to: &writer)
    }
  }
}
