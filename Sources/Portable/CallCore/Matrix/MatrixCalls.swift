import JSON
import MatrixModel

/// All calls of an account between two devices, as a state machine: inputs in, effects out, no I/O, no clock.
///
/// The host hands over events whose type begins with `m.call.`, tells when a sync is through, and sends what comes out in its order. Several
/// calls may ring at a time; whether a user can talk in two at once is for the application to decide.
public struct MatrixCalls: Sendable {
  public private(set) var calls: [MatrixCall] = []
  let user: UserID
  private var iceServers: [ICEServer] = []
  private var ended: [EndedCall] = []
  private var lastHandle: CallHandle = 0
  private var lastSource: SourceID = 0
  private var random: RandomSource
  private var effects: [MatrixCallEffect] = []
  private var now: Int64 = 0
  private var wakesAt: Int64?

  private struct EndedCall: Sendable {
    let room: RoomID
    let id: ByteString
  }

  /// - Parameter randomSeed: from the host's cryptographic source; the IDs of calls and parties grow from it.
  public init(user: UserID, randomSeed: UInt64) {
    self.user = user
    random = RandomSource(seed: randomSeed)
  }

  /// nil once it has ended and that was told.
  public func call(_ handle: CallHandle) -> MatrixCall? {
    calls.first { $0.handle == handle }
  }

  /// Takes one input and returns what is to be done, in order. Calls that ended are there until the next input.
  /// - Parameter now: milliseconds of a clock that does not go back.
  public mutating func handle(_ input: MatrixCallInput, now: Int64) -> [MatrixCallEffect] {
    self.now = now
    calls.removeAll { $0.isEnded }
    for i in calls.indices { calls[i].now = now }
    switch input {
    case .command(let command): carryOut(command)
    case .event(let event): take(event)
    case .synced: ring()
    case .left(let room, let who): for i in calls.indices where calls[i].room == room { calls[i].left(who, own: user) }
    case .sendFailed(let handle): with(handle) { $0.end(.sendFailed) }
    case .iceServers(let servers): iceServers = servers
    case .media(let input): take(input)
    case .time: break
    }
    settle()
    let result = effects
    effects = []
    return result
  }

  private mutating func settle() {
    var at: Int64?
    for i in calls.indices {
      calls[i].meetDeadlines()
      collect(i)
      if calls[i].isEnded { remember(calls[i].room, calls[i].id) } else { at = earlier(at, calls[i].deadline) }
    }
    if at != wakesAt { effects.append(.wake(at: at)) }
    wakesAt = at
  }

  private mutating func collect(_ i: Int) {
    calls[i].negotiation?.advance()
    effects += calls[i].effects
    calls[i].effects = []
    guard let media = calls[i].negotiation?.effects else { return }
    for effect in media { effects.append(.media(effect)) }
    calls[i].negotiation?.effects = []
  }

  private mutating func with(_ handle: CallHandle, _ body: (inout MatrixCall) -> Void) {
    if let i = calls.firstIndex(where: { $0.handle == handle }) { body(&calls[i]) }
  }

  // MARK: Commands

  private mutating func carryOut(_ command: MatrixCallCommand) {
    switch command {
    case .place(let room, let invitee, let audio, let video): place(room, invitee, audio: audio, video: video)
    case .answer(let handle, let audio, let video):
      let source = nextSource()
      let servers = iceServers
      with(handle) {
        $0.iceServers = servers
        $0.accept(source, audio: audio, video: video)
      }
    case .reject(let handle): with(handle) { $0.reject() }
    case .silence(let handle):
      with(handle) {
        $0.rings = false
        $0.changed()
      }
    case .hangUp(let handle): with(handle) { $0.hangUp() }
    case .busy(let handle): with(handle) { if $0.state == .ringing { $0.end(.hungUp, telling: "user_busy") } }
    case .mute(let handle, let audio, let video): with(handle) { $0.mute(audio: audio, video: video) }
    case .hold(let handle, let isOn): with(handle) { $0.hold(isOn) }
    case .shareScreen(let handle, let isOn):
      let source = nextSource()
      with(handle) { if isOn { $0.shareScreen(source) } else { $0.stopScreen() } }
    }
  }

  private mutating func place(_ room: RoomID, _ invitee: UserID?, audio: Bool, video: Bool) {
    if let i = calls.firstIndex(where: {
      $0.room == room && $0.state == .ringing && (invitee == nil || invitee == $0.opponent)
    }) {
      // Who calls back while it rings answers.
      return calls[i].accept(nextSource(), audio: audio, video: video)
    }
    // What others ask for does not keep one from calling.
    guard !calls.contains(where: { $0.isOutgoing && !$0.isEnded && $0.room == room }) else { return }
    var call = MatrixCall(
      handle: nextHandle(), id: random.name(), party: random.name(), room: room, to: invitee, now: now)
    call.iceServers = iceServers
    call.hasVideo = video
    call.capture(nextSource(), audio: audio, video: video)
    call.changed()
    calls.append(call)
  }

  private mutating func nextHandle() -> CallHandle {
    lastHandle &+= 1
    return lastHandle
  }

  private mutating func nextSource() -> SourceID {
    lastSource &+= 1
    return lastSource
  }

  // MARK: Events

  private mutating func take(_ event: MatrixCallEvent) {
    guard event.regard != .ignored, let content = MatrixCallContent(event.content) else { return }
    if let i = calls.firstIndex(where: { $0.room == event.room && $0.id == content.callID }) {
      return calls[i].take(event, content, own: user)
    }
    guard event.type == .callInvite else {
      // What ends a call may come before its invite.
      let isFinal = event.type == .callHangup || event.type == .callReject || event.type == .callAnswer
      if isFinal, event.type == .callHangup || event.sender == user { remember(event.room, content.callID) }
      return
    }
    invited(event, content)
  }

  private mutating func invited(_ event: MatrixCallEvent, _ content: MatrixCallContent) {
    let json = content.json
    guard !event.isHistory, calls.count < CallLimits.calls, !asksTooOften(event.sender), !isOver(event.room, content.callID),
      let offer = json["offer"]?.text("sdp"),
      json["invitee"].map({ UserID($0) == user }) ?? (event.sender != user),
      content.lifetime - event.ageMilliseconds >= CallLimits.ringMilliseconds
    else { return }
    var call = MatrixCall(handle: nextHandle(), party: random.name(), event, content, offer: offer, now: now)
    call.iceServers = iceServers
    calls.append(call)
  }

  private func asksTooOften(_ sender: UserID) -> Bool {
    var count = 0
    for call in calls where !call.isOutgoing && call.opponent == sender { count += 1 }
    return count >= CallLimits.callsOfOne
  }

  /// What came in the sync and was not taken back in it.
  private mutating func ring() {
    for i in calls.indices where calls[i].state == .announced {
      calls[i].state = .ringing
      calls[i].changed()
      meetGlare(i)
    }
  }

  /// Both have called: one of the two calls goes on. Spec: "Glare".
  private mutating func meetGlare(_ i: Int) {
    let room = calls[i].room
    guard let caller = calls[i].opponent,
      let own = calls.firstIndex(where: {
        $0.room == room && $0.isOutgoing && ($0.state == .preparing || $0.state == .calling)
          && ($0.invitee == nil || $0.invitee == caller)
      })
    else { return }
    if calls[own].state == .calling, calls[own].id < calls[i].id { return calls[i].end(.replaced) }
    calls[i].local = calls[own].local
    calls[own].local = []
    calls[own].end(.replaced, telling: calls[own].state == .calling ? "user_hangup" : nil)
    calls[i].accept(0, audio: true, video: calls[own].hasVideo)
    effects.append(.replaced(calls[own].handle, by: calls[i].handle))
  }

  private mutating func remember(_ room: RoomID, _ id: ByteString) {
    guard !isOver(room, id) else { return }
    if ended.count >= CallLimits.endedCalls { ended.removeFirst() }
    ended.append(EndedCall(room: room, id: id))
  }

  private func isOver(_ room: RoomID, _ id: ByteString) -> Bool {
    ended.contains { $0.room == room && $0.id == id }
  }

  // MARK: Media

  private mutating func take(_ input: MediaInput) {
    switch input {
    case .captured(let source, let media):
      guard let i = calls.firstIndex(where: { $0.uses(source) }) else {
        return effects.append(.media(.release(source)))
      }
      calls[i].captured(source, media)
    case .captureFailed(let source), .captureEnded(let source):
      if let i = calls.firstIndex(where: { $0.uses(source) }) { calls[i].captureFailed(source) }
    case .described(let peer, let round, let sdp, let mids): with(peer) { $0.described(round, sdp, mids) }
    case .remoteSet(let peer, let round): with(peer) { $0.negotiation?.remoteSet(round) }
    case .failed(let peer, let round): with(peer) { $0.failed(round) }
    case .candidate(let peer, let candidate): with(peer) { $0.candidateFound(candidate) }
    case .ice(let peer, let state): with(peer) { $0.iceChanged(state) }
    case .trackArrived(let peer, let mid, let stream, _): with(peer) { $0.trackArrived(mid, stream) }
    }
  }
}
