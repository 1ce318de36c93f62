import JSON
import MatrixModel

/// One call between two devices, by the events of version 1; of version 0 where the other side knows no more.
///
/// Spec: Client-Server API, "Voice over IP". `MatrixCalls` owns it and hands it what concerns it.
public struct MatrixCall: Sendable {
  public let handle: CallHandle
  public let id: ByteString
  public let room: RoomID
  public let isOutgoing: Bool
  /// The user that the invite names; nil for everybody in the room.
  public let invitee: UserID?
  public internal(set) var state: MatrixCallState
  /// Who is at the other end; nil until somebody has answered.
  public internal(set) var opponent: UserID?
  /// False for strangers' calls and after `silence`: it is shown, no more.
  public internal(set) var rings = true
  /// Whether there was a picture in the offer.
  public internal(set) var hasVideo = false
  public internal(set) var local: [LocalMedia] = []
  public internal(set) var remote: [RemoteMedia] = []
  public internal(set) var isOnHold = false
  public internal(set) var isHeldByOpponent = false

  /// Own party ID.
  let party: ByteString
  var opponentParty: ByteString?
  var isVersion0 = false
  /// Whether the other side tells its streams apart.
  var hasMetadata = false
  /// Of the invite.
  var offer: ByteString?
  /// When the invite is void; when the negotiation is.
  var expiresAt: Int64?
  var negotiationExpiresAt: Int64?
  /// When it must be connected, for the first time or again.
  var connectBy: Int64?
  var negotiation: Negotiation?
  var watch = TransportWatch()
  var isAnswerSent = false
  /// The metadata that the other side knows.
  var toldMetadata: [UInt8] = []
  var outgoing = CandidateBatch()
  var incoming: [EarlyCandidate] = []
  var iceServers: [ICEServer] = []
  var tracks: [PeerLink.ArrivingSection] = []
  var effects: [MatrixCallEffect] = []
  var now: Int64

  struct EarlyCandidate: Sendable {
    let sender: UserID
    let party: ByteString?
    let candidate: ICECandidate
  }

  init(handle: CallHandle, id: ByteString, party: ByteString, room: RoomID, to invitee: UserID?, now: Int64) {
    self.handle = handle
    self.id = id
    self.party = party
    self.room = room
    self.invitee = invitee
    self.now = now
    isOutgoing = true
    state = .preparing
  }

  /// Of an invite.
  init(
    handle: CallHandle, party: ByteString, _ event: MatrixCallEvent, _ content: MatrixCallContent, offer: ByteString, now: Int64
  ) {
    self.handle = handle
    self.party = party
    self.offer = offer
    self.now = now
    id = content.callID
    room = event.room
    isOutgoing = false
    invitee = UserID(content.json["invitee"])
    state = .announced
    opponent = event.sender
    opponentParty = content.party
    isVersion0 = content.isVersion0
    rings = event.regard == .known
    hasVideo = SDPText.hasVideo(offer)
    expiresAt = now + content.lifetime - event.ageMilliseconds
    learn(content.json["sdp_stream_metadata"])
  }

  func uses(_ source: SourceID) -> Bool { local.contains { $0.source == source } }

  public var isEnded: Bool {
    if case .ended = state { return true }
    return false
  }

  /// Whether the two are talking, or about to.
  public var isAnswered: Bool { state == .connecting || state == .connected }

  /// Whether nothing gets through between the two at present, where it did before.
  public var isInterrupted: Bool { state == .connected && connectBy != nil }

  // MARK: Sending

  mutating func send(_ type: EventType, _ members: (inout JSONWriter) -> Void = { _ in }) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("call_id", id)
    writer.member("version", "1" as ByteString)
    writer.member("party_id", party)
    members(&writer)
    writer.endObject()
    effects.append(.send(handle, room, type, content: writer.bytes))
  }

  /// `sdp_stream_metadata` of what is sent from here.
  func metadata() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for media in local { media.write(to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  /// Where no description goes out that tells it.
  mutating func tellMetadata() {
    let metadata = metadata()
    guard isAnswered, isAnswerSent || isOutgoing, hasMetadata, !isVersion0, metadata != toldMetadata else { return }
    toldMetadata = metadata
    send(.callStreamMetadataChanged) { $0.member("sdp_stream_metadata", raw: metadata) }
  }

  mutating func changed() { effects.append(.change(handle)) }

  // MARK: The end

  /// Ends it here and, with a reason, at the other side.
  mutating func end(_ end: MatrixCallEnd, telling reason: StaticString? = nil) {
    guard !isEnded else { return }
    if let reason { send(.callHangup) { $0.member("reason", ByteString(stringLiteral: reason)) } }
    if negotiation != nil { effects.append(.media(.close(handle))) }
    negotiation = nil
    for media in local { effects.append(.media(.release(media.source))) }
    local = []
    remote = []
    tracks = []
    state = .ended(end)
    changed()
  }

  // MARK: Time

  var deadline: Int64? {
    let waits = state == .calling || state == .announced || state == .ringing
    let invite = waits ? expiresAt : nil
    return earlier(
      earlier(earlier(invite, negotiationExpiresAt), earlier(connectBy, outgoing.sendAt)), watch.restartAt)
  }

  mutating func meetDeadlines() {
    if let at = expiresAt, at <= now {
      if state == .calling { end(.unanswered, telling: "invite_timeout") }
      if state == .announced || state == .ringing { end(.unanswered) }
    }
    if let at = connectBy, at <= now, isAnswered {
      if watch.wasConnected {
        end(.connectionLost, telling: "ice_timeout")
      } else {
        end(.connectionFailed, telling: "ice_failed")
      }
    }
    if let at = negotiationExpiresAt, at <= now {
      negotiationExpiresAt = nil
      negotiation?.offerFailed()
    }
    if let at = outgoing.sendAt, at <= now { sendCandidates() }
    if watch.isDue(now: now) { negotiation?.restartICE() }
  }
}
