import JSON
import MatrixModel

/// What others say about a call.
extension MatrixCall {
  mutating func take(_ event: MatrixCallEvent, _ content: MatrixCallContent, own user: UserID) {
    guard !isEnded else { return }
    let isOwnAccount = event.sender == user
    if isOwnAccount, let party = content.party, party == self.party { return }
    switch event.type.text {
    case "m.call.answer": answerCame(event, content, isOwnAccount: isOwnAccount)
    case "m.call.select_answer": answerSelected(event, content)
    case "m.call.reject": rejectCame(event, content, isOwnAccount: isOwnAccount)
    case "m.call.hangup": hangupCame(event, content, isOwnAccount: isOwnAccount)
    case "m.call.candidates": candidatesCame(event, content)
    case "m.call.negotiate": negotiationCame(event, content)
    case "m.call.sdp_stream_metadata_changed":
      if isAnswered, isOpponent(event.sender, content.party) { learn(content.json["sdp_stream_metadata"]) }
    default: break
    }
  }

  /// Whether this user may answer for the called side: not another device of the caller's, unless the user calls themselves.
  private func isCallee(_ event: MatrixCallEvent, isOwnAccount: Bool) -> Bool {
    if let invitee { return event.sender == invitee }
    return !isOwnAccount
  }

  private mutating func answerCame(_ event: MatrixCallEvent, _ content: MatrixCallContent, isOwnAccount: Bool) {
    guard isOutgoing else {
      if isOwnAccount, state == .announced || state == .ringing { end(.answeredElsewhere) }
      return
    }
    guard state == .calling, isCallee(event, isOwnAccount: isOwnAccount), let sdp = content.json["answer"]?.text("sdp")
    else { return }
    opponent = event.sender
    opponentParty = content.party
    isVersion0 = content.isVersion0
    if let party = content.party { select(party) }
    state = .connecting
    connectBy = now + CallLimits.connectMilliseconds
    negotiation?.mayOffer = !isVersion0
    negotiation?.answered(sdp)
    addEarlyCandidates()
    learn(content.json["sdp_stream_metadata"])
    changed()
    tellMetadata()
  }

  private mutating func select(_ party: ByteString) {
    send(.callSelectAnswer) { $0.member("selected_party_id", party) }
  }

  private mutating func answerSelected(_ event: MatrixCallEvent, _ content: MatrixCallContent) {
    guard !isOutgoing, isOpponent(event.sender, content.party),
      let selected = content.json.text("selected_party_id")
    else { return }
    guard selected == party else { return end(.answeredElsewhere) }
    negotiation?.mayOffer = !isVersion0
  }

  private mutating func rejectCame(_ event: MatrixCallEvent, _ content: MatrixCallContent, isOwnAccount: Bool) {
    if isOutgoing {
      guard state == .calling, isCallee(event, isOwnAccount: isOwnAccount) else { return }
      if let party = content.party { select(party) }
      end(.rejected)
    } else if isOwnAccount, state == .announced || state == .ringing {
      end(.rejectedElsewhere)
    }
  }

  /// A client of version 0 rejects by hanging up.
  private mutating func hangupCame(_ event: MatrixCallEvent, _ content: MatrixCallContent, isOwnAccount: Bool) {
    let isWaiting = state == .calling || state == .announced || state == .ringing
    if isWaiting, !isOutgoing, isOwnAccount, event.sender != opponent { return end(.rejectedElsewhere) }
    let isHeard =
      isOutgoing && isWaiting
      ? isCallee(event, isOwnAccount: isOwnAccount) : isOpponent(event.sender, content.party)
    guard isHeard else { return }
    let reason = content.json.text("reason") ?? "user_hangup"
    end(.hungUpByOther(reason: reason.count <= CallLimits.callIDBytes ? reason : "unknown_error"))
  }

  mutating func left(_ user: UserID, own: UserID) {
    if user == own || user == opponent { return end(.left) }
    if user == invitee { end(.left, telling: state == .calling ? "user_hangup" : nil) }
  }

  // MARK: What the person says

  mutating func accept(_ source: SourceID, audio: Bool, video: Bool) {
    guard state == .ringing else { return }
    state = .connecting
    expiresAt = nil
    connectBy = now + CallLimits.connectMilliseconds
    capture(source, audio: audio, video: video)
    changed()
  }

  mutating func reject() {
    guard !isOutgoing, state == .announced || state == .ringing else { return }
    if isVersion0 { return end(.hungUp, telling: "user_hangup") }
    send(.callReject)
    end(.rejected)
  }

  mutating func hangUp() {
    switch state {
    case .preparing: end(.hungUp)
    case .announced, .ringing: reject()
    default: end(.hungUp, telling: "user_hangup")
    }
  }
}
