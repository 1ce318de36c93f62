import JSON

/// Offers and answers of one peer connection: one exchange at a time, and what changes meanwhile goes into the next offer.
///
/// Where two offers cross, the polite side takes its own back and the other ignores what came. WebRTC 1.0, "Perfect negotiation example".
/// What the host is to do gathers in `effects`.
struct Negotiation: Sendable {
  enum Phase: Sendable { case idle, making, offered, settingAnswer, settingOffer, answering }

  let peer: PeerID
  let gatherMilliseconds: Int64
  var isPolite = false
  /// Whether offers go out by themselves when something has changed.
  var mayOffer = true
  private(set) var phase = Phase.idle
  private(set) var sections: [Section] = []
  var effects: [MediaEffect] = []
  private var round: UInt32 = 0
  private var lastSection: SectionID = 0
  private var isTouched = false
  private var restartsICE = false
  /// Whether an offer was ever answered, by either side.
  private var hasAgreed = false
  /// An offer that came while the one before was being answered.
  private var nextOffer: ByteString?

  init(peer: PeerID, iceServers: [ICEServer], isPolite: Bool = false, gatherMilliseconds: Int64 = 0) {
    self.peer = peer
    self.isPolite = isPolite
    self.gatherMilliseconds = gatherMilliseconds
    effects.append(.open(peer, iceServers))
  }

  /// One section of ours.
  struct Section: Sendable {
    enum State: Sendable { case wanted, present, unwanted }

    let id: SectionID
    let kind: TrackKind
    /// nil where it only receives.
    let source: SourceID?
    let receives: Bool
    /// Of what arrives, as WebRTC's `mimeType` has it after the slash; empty where it is not known.
    let codec: ByteString
    /// What it is for, in the words of the signalling.
    let stream: ByteString
    var state = State.wanted
    var mid: ByteString?
  }

  /// Returns the same negotiation on a new peer connection, where nothing is described yet.
  func anew(_ peer: PeerID, iceServers: [ICEServer]) -> Negotiation {
    var new = Negotiation(peer: peer, iceServers: iceServers, isPolite: isPolite, gatherMilliseconds: gatherMilliseconds)
    for section in sections where section.state != .unwanted {
      new.add(section.kind, section.source, receives: section.receives, section.codec, section.stream)
    }
    return new
  }

  // MARK: What is wanted

  mutating func send(_ source: SourceID, _ kind: TrackKind, stream: ByteString, receives: Bool = false) {
    add(kind, source, receives: receives, "", stream)
  }

  mutating func receive(_ kind: TrackKind, codec: ByteString, stream: ByteString) {
    add(kind, nil, receives: true, codec, stream)
  }

  func hasSection(_ kind: TrackKind, stream: ByteString) -> Bool {
    sections.contains { $0.kind == kind && $0.state != .unwanted && $0.stream == stream }
  }

  /// Every section of a stream goes.
  mutating func stop(stream: ByteString) {
    sections.removeAll { $0.stream == stream && $0.state == .wanted }
    for i in sections.indices where sections[i].stream == stream { sections[i].state = .unwanted }
  }

  /// The stream that a section in use is for.
  func stream(at mid: ByteString) -> ByteString? {
    for section in sections where section.state == .present {
      if let known = section.mid, known == mid { return section.stream }
    }
    return nil
  }

  mutating func restartICE() { restartsICE = true }

  /// Something outside of the sections has changed that an offer tells.
  mutating func touch() { isTouched = true }

  /// Nothing was described yet.
  var isNew: Bool { round == 0 }

  /// Whether there is something that the other side does not know.
  private var isDirty: Bool {
    isTouched || restartsICE || sections.contains { $0.state != .present || $0.mid == nil }
  }

  private mutating func add(_ kind: TrackKind, _ source: SourceID?, receives: Bool, _ codec: ByteString, _ stream: ByteString) {
    guard sections.count < CallLimits.sections else { return }
    lastSection &+= 1
    sections.append(
      Section(id: lastSection, kind: kind, source: source, receives: receives, codec: codec, stream: stream))
  }

  // MARK: Own offers

  /// Makes an offer if an offer is due.
  mutating func advance() {
    guard phase == .idle else { return }
    if let offer = nextOffer {
      nextOffer = nil
      return take(offer)
    }
    guard isDirty, mayOffer else { return }
    isTouched = false
    applySections(answering: false)
    describe(.offer)
    phase = .making
  }

  /// The other side's answer.
  mutating func answered(_ sdp: ByteString) {
    guard phase == .offered else { return }
    phase = .settingAnswer
    setRemote(.answer, sdp)
  }

  /// There will be no answer; what the offer held goes into the next one.
  mutating func offerFailed() {
    guard phase == .offered || phase == .making else { return }
    phase = .idle
    isTouched = true
  }

  // MARK: Offers of the other side

  /// Whether an offer that comes now makes this side take back the first offer of the peer connection.
  ///
  /// Chromium never gathers candidates after that, so the offer has to be taken on a new peer connection (`anew`).
  var yieldsFirstOffer: Bool { isPolite && !hasAgreed && (phase == .making || phase == .offered) }

  /// False where it is ignored.
  mutating func offered(_ sdp: ByteString) -> Bool {
    switch phase {
    case .idle: take(sdp)
    case .making, .offered:
      guard isPolite else { return false }
      isTouched = true
      take(sdp)
    case .settingAnswer, .settingOffer, .answering: nextOffer = sdp
    }
    return true
  }

  private mutating func take(_ offer: ByteString) {
    phase = .settingOffer
    setRemote(.offer, offer)
  }

  // MARK: What the host says

  /// The kind of the description that is now to be sent; nil where nobody waits for it any more.
  mutating func described(_ round: UInt32, _ mids: [SectionMID]) -> DescriptionKind? {
    guard round == self.round, phase == .making || phase == .answering else { return nil }
    for place in mids {
      for i in sections.indices where sections[i].id == place.section { sections[i].mid = place.mid }
    }
    if phase == .making {
      phase = .offered
      return .offer
    }
    phase = .idle
    hasAgreed = true
    return nextOffer == nil ? .answer : nil
  }

  mutating func remoteSet(_ round: UInt32) {
    guard round == self.round else { return }
    switch phase {
    case .settingAnswer:
      phase = .idle
      hasAgreed = true
    case .settingOffer:
      phase = .answering
      applySections(answering: true)
      describe(.answer)
    default: break
    }
  }

  /// Whether it was what is under way.
  mutating func failed(_ round: UInt32) -> Bool {
    guard round == self.round, phase != .idle, phase != .offered else { return false }
    phase = .idle
    return true
  }

  // MARK: Effects

  /// In an answer there is only room for tracks that take a section of the offer.
  private mutating func applySections(answering: Bool) {
    for i in sections.indices {
      let section = sections[i]
      switch section.state {
      case .wanted:
        if answering, section.source == nil || !section.receives { continue }
        sections[i].state = .present
        if let source = section.source {
          effects.append(.send(peer, section.id, source, section.kind, receives: section.receives))
        } else {
          effects.append(.receive(peer, section.id, section.kind, codec: section.codec))
        }
      case .unwanted: if !answering { effects.append(.stop(peer, section.id)) }
      case .present: break
      }
    }
    if !answering { sections.removeAll { $0.state == .unwanted } }
  }

  private mutating func describe(_ kind: DescriptionKind) {
    round &+= 1
    let restarts = restartsICE && kind == .offer
    if restarts { restartsICE = false }
    effects.append(
      .describe(peer, round: round, kind, restartsICE: restarts, gatherMilliseconds: gatherMilliseconds))
  }

  private mutating func setRemote(_ kind: DescriptionKind, _ sdp: ByteString) {
    round &+= 1
    effects.append(.setRemote(peer, round: round, kind, sdp: sdp))
  }
}
