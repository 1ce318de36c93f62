import JSON
import MatrixModel

/// A participant's side of a session as a state machine: inputs in, effects out, no I/O, no clock, no randomness of its own. The other end of its
/// socket is `CallServer`; what they say is Documentation/Decisions/0014-call-sessions.md.
///
///     var session = CallSession(randomSeed: seed)
///     for effect in session.handle(.command(.connect(token, session: id), id: 1), now: milliseconds) { host.carryOut(effect) }
///
/// A broken socket is opened anew and goes on where the last one ended: nothing is lost or done twice. Where the server does not know
/// the connection any more, a new one publishes and subscribes again.
public struct CallSession: Sendable {
  public internal(set) var state = CallState.idle
  /// The own connection; nil until the server's greeting.
  public internal(set) var connection: CallConnection?
  /// Those of others.
  public internal(set) var connections: [CallConnection] = []
  public internal(set) var streams: [CallStream] = []
  public internal(set) var publications: [Publication] = []
  /// The stream of who speaks.
  public internal(set) var speaker: ByteString?
  /// The ID of the recording that goes on, which the server calls an archive.
  public internal(set) var recording: ByteString?
  public internal(set) var isMuteOfAllActive = false
  /// Whether media goes straight to the other connections.
  public internal(set) var isRelayed = false
  /// Why the server has ended it, for developers; empty where it has not.
  public internal(set) var endMessage: ByteString = ""
  let subscribesToAll: Bool
  /// Peers of a relayed session whose descriptions could not be set.
  var unreachable: Set<ByteString> = []

  var credentials = Credentials()
  var socket = SocketState()
  var wire = SessionWire()
  /// Those of the connection before this one: what was wanted of them is wanted again.
  var formerStreams: [CallStream] = []
  var links: [PeerLink] = []
  var lastPeer: PeerID = 0
  var iceServers: [ICEServer] = []
  var mediaFailures = 0
  var random: RandomSource
  var effects: [SessionEffect] = []
  var now: Int64 = 0
  private var wakesAt: Int64?

  /// - Parameters:
  ///   - randomSeed: jitter grows from it.
  ///   - subscribesToAll: whether each stream that comes is subscribed to.
  public init(randomSeed: UInt64, subscribesToAll: Bool = true) {
    random = RandomSource(seed: randomSeed)
    self.subscribesToAll = subscribesToAll
  }

  public func stream(_ id: ByteString) -> CallStream? {
    streams.first { $0.id == id }
  }

  public func publication(_ source: SourceID) -> Publication? {
    publications.first { $0.source == source }
  }

  /// Takes one input and returns what is to be done, in order.
  /// - Parameter now: milliseconds of a clock that does not go back.
  public mutating func handle(_ input: SessionInput, now: Int64) -> [SessionEffect] {
    if case .ended = state { return [] }
    self.now = now
    switch input {
    case .command(let command, let id): carryOut(command, id)
    case .socketOpened(let id): socketOpened(id)
    case .text(let id, let bytes): take(bytes, from: id)
    case .socketClosed(let id): if id == socket.id { socketLost() }
    case .media(let input): take(input)
    case .networkChanged: networkChanged()
    case .time: break
    }
    meetDeadlines()
    advanceLinks()
    wake()
    let result = effects
    effects = []
    return result
  }

  private mutating func carryOut(_ command: SessionCommand, _ id: CommandID) {
    switch command {
    case .connect(let token, let session): connect(token, session, id)
    case .publish(let source, let kind, let name, let audio, let video):
      publish(source, kind, name: name, audio: audio, video: video, id)
    case .update(let source, let hasAudio, let hasVideo): update(source, hasAudio: hasAudio, hasVideo: hasVideo, id)
    case .unpublish(let source): unpublish(source, id)
    case .subscribe(let stream): subscribe(stream, id)
    case .unsubscribe(let stream): unsubscribe(stream, id)
    case .prefer(let stream, let preference): prefer(stream, preference, id)
    case .leave: leave(id)
    default: ask(command, id)
    }
  }

  private mutating func meetDeadlines() {
    if let at = socket.deadline, at <= now { socketIsLate() }
    if let at = wire.unansweredSince, at + CallLimits.answerMilliseconds <= now, socket.phase == .open { dropSocket() }
    if let at = wire.ackAt, at <= now { acknowledge() }
    for i in links.indices {
      if links[i].watch.isDue(now: now) { links[i].negotiation.restartICE() }
      if let at = links[i].retryAt, at <= now {
        links[i].retryAt = nil
        relayUnsent(i)
      }
    }
    for i in publications.indices {
      guard let at = publications[i].retryAt, at <= now else { continue }
      publications[i].retryAt = nil
      announce(publications[i].source)
    }
  }

  private mutating func advanceLinks() {
    for i in links.indices {
      let mayOffer = links[i].retryAt == nil && !waitsForPublications(links[i]) && !waitsForRelay(links[i])
      if mayOffer { links[i].negotiation.advance() }
      for effect in links[i].negotiation.effects { effects.append(.media(effect)) }
      links[i].negotiation.effects = []
    }
  }

  /// The first offer to the router takes along what is about to have its stream: an exchange of its own would be in the way of the first pictures.
  private func waitsForPublications(_ link: PeerLink) -> Bool {
    link.remote == nil && link.negotiation.isNew
      && publications.contains { if case .publishing = $0.state { true } else { false } }
  }

  /// An offer must not overtake an answer that the server may still refuse.
  private func waitsForRelay(_ link: PeerLink) -> Bool {
    wire.requests.contains { request in
      if case .relay(let peer, let data) = request.purpose { peer == link.peer && data.kind != nil } else { false }
    }
  }

  private mutating func wake() {
    var at = earlier(socket.deadline, wire.ackAt)
    if socket.phase == .open { at = earlier(at, wire.unansweredSince.map { $0 + CallLimits.answerMilliseconds }) }
    for link in links { at = earlier(at, earlier(link.watch.restartAt, link.retryAt)) }
    for publication in publications { at = earlier(at, publication.retryAt) }
    if case .ended = state { at = nil }
    if at != wakesAt { effects.append(.wake(at: at)) }
    wakesAt = at
  }

  mutating func finish(_ id: CommandID, _ refusal: CallRefusal? = nil) {
    if id != 0 { effects.append(.change(.finished(id, refusal))) }
  }

  /// Nothing stays open behind it.
  mutating func end(_ reason: SessionEnd) {
    if socket.phase != .none, socket.phase != .waiting { effects.append(.closeSocket(socket.id)) }
    forgetConnection()
    for publication in publications { effects.append(.media(.release(publication.source))) }
    publications = []
    finish(credentials.command, CallRefusal("connection_lost"))
    credentials = Credentials()
    socket.deadline = nil
    socket.phase = .none
    state = .ended(reason)
    effects.append(.change(.session))
  }
}

/// What one comes in with. The command is the one that waits for it.
struct Credentials: Sendable, CustomStringConvertible {
  var token = CallToken("")
  var session: ByteString = ""
  var command: CommandID = 0

  var description: String { "credentials" }
}
