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
  private var toldState = SessionState.idle
  var told = ToldMembers()

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
      // Whoever leaves twice has left.
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
    switch change {
    case .session: stateChanged(session)
    case .connection(let id): connectionChanged(id, session)
    case .stream(let id): streamChanged(id, session)
    case .publication(let source): publicationChanged(source, session)
    case .speaker:
      port?.tell("speaker") { if let stream = session.speaker { $0.member("stream", stream) } }
    case .recording:
      port?.tell("recording") { if let archive = session.recording { $0.member("archive", archive) } }
    case .muting: port?.tell("muteAll") { $0.member("active", session.isMuteOfAllActive) }
    case .signal(let signal):
      port?.tell("signal") {
        $0.member("kind", signal.kind)
        $0.member("data", signal.data)
        if let from = signal.from { $0.member("from", from) }
      }
    case .finished(let id, let refusal): finished(id, refusal, session)
    }
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

  private func stateChanged(_ session: CallSession) {
    // What went with a connection that the server does not know any more.
    for id in told.streams.map({ $0.id }) { streamChanged(id, session) }
    for id in told.connections { connectionChanged(id, session) }
    let old = toldState
    toldState = session.state
    switch session.state {
    case .connected:
      if let own = session.connection {
        port?.tell(old == .reconnecting ? "reconnected" : "connected") { writer in
          writer.key("connection")
          own.write(to: &writer)
          writer.member("relayed", session.isRelayed)
          if let archive = session.recording { writer.member("archive", archive) }
        }
      }
    case .reconnecting: if old != .reconnecting { port?.tell("reconnecting") }
    case .ended(let reason): port?.tell("closed") { $0.member("code", reason.code) }
    case .idle, .connecting: break
    }
  }

  private func connectionChanged(_ id: ByteString, _ session: CallSession) {
    guard let isHere = told.connection(id, isHere: session.connections.contains { $0.id == id }) else { return }
    port?.tell(isHere ? "connectionCreated" : "connectionDestroyed") { writer in
      writer.key("connection")
      if isHere, let connection = session.connections.first(where: { $0.id == id }) {
        connection.write(to: &writer)
      } else {
        writer.write(id)
      }
    }
  }

  private func streamChanged(_ id: ByteString, _ session: CallSession) {
    let old = told.streams.first { $0.id == id }
    guard let stream = session.stream(id) else {
      guard old != nil else { return }
      told.streams.removeAll { $0.id == id }
      port?.tell("streamDestroyed") { $0.member("stream", id) }
      return
    }
    told.streams.removeAll { $0.id == id }
    told.streams.append(stream)
    // Whether it arrives, and how large, the page has asked for itself.
    if let old, old.isShownLike(stream) {
      guard old.videoDisabled != stream.videoDisabled else { return }
      port?.tell(stream.videoDisabled == nil ? "videoEnabled" : "videoDisabled") {
        $0.member("stream", id)
        $0.member("reason", stream.videoDisabled ?? old.videoDisabled ?? "")
      }
      return
    }
    port?.tell(old == nil ? "streamCreated" : "streamChanged") { writer in
      writer.key("stream")
      stream.write(to: &writer)
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

/// Whom and what the page knows of.
struct ToldMembers {
  private(set) var connections: [ByteString] = []
  var streams: [CallStream] = []

  /// nil where that is nothing new.
  mutating func connection(_ id: ByteString, isHere: Bool) -> Bool? {
    guard connections.contains(id) != isHere else { return nil }
    if isHere { connections.append(id) } else { connections.removeAll { $0 == id } }
    return isHere
  }
}
