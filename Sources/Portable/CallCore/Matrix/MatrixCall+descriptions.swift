import JSON
import MatrixModel

/// Descriptions that the host made, and candidates, on their way to the other side.
extension MatrixCall {
  mutating func described(_ round: UInt32, _ sdp: ByteString, _ mids: [SectionMID]) {
    guard let kind = negotiation?.described(round, mids) else { return }
    let metadata = metadata()
    toldMetadata = metadata
    let description = SessionDescription(kind: kind, sdp: sdp)
    if state == .preparing { return invite(description, metadata) }
    if !isAnswerSent, !isOutgoing { return answer(description, metadata) }
    if kind == .offer {
      negotiationExpiresAt = now + CallLimits.negotiationMilliseconds
      outgoing.restart()
    }
    send(.callNegotiate) { writer in
      writer.key("description")
      description.write(to: &writer)
      writer.member("lifetime", CallLimits.negotiationMilliseconds)
      writer.member("sdp_stream_metadata", raw: metadata)
    }
  }

  private mutating func invite(_ description: SessionDescription, _ metadata: [UInt8]) {
    send(.callInvite) { [invitee] writer in
      writer.key("offer")
      description.write(to: &writer)
      writer.member("lifetime", CallLimits.lifetimeMilliseconds)
      if let invitee { writer.member("invitee", invitee) }
      writer.member("sdp_stream_metadata", raw: metadata)
    }
    state = .calling
    negotiation?.mayOffer = false
    expiresAt = now + CallLimits.lifetimeMilliseconds
    outgoing.begin(at: now + CallLimits.candidatesAfterInviteMilliseconds, now: now)
    changed()
  }

  private mutating func answer(_ description: SessionDescription, _ metadata: [UInt8]) {
    send(.callAnswer) { writer in
      writer.key("answer")
      description.write(to: &writer)
      writer.member("sdp_stream_metadata", raw: metadata)
    }
    isAnswerSent = true
    outgoing.begin(at: now + CallLimits.candidatesAfterAnswerMilliseconds, now: now)
  }

  mutating func candidateFound(_ candidate: ICECandidate?) {
    guard !isEnded else { return }
    outgoing.add(candidate, now: now)
    meetDeadlines()
  }

  mutating func sendCandidates() {
    let batch = outgoing.take()
    guard !batch.isEmpty, !isEnded else { return }
    send(.callCandidates) { writer in
      writer.array("candidates", batch) { $0.write(to: &$1) }
    }
  }

  /// The host could not make or set a description.
  mutating func failed(_ round: UInt32) {
    guard negotiation?.failed(round) == true else { return }
    end(.mediaFailed, telling: state == .preparing ? nil : "unknown_error")
  }

  // MARK: Of the other side

  mutating func candidatesCame(_ event: MatrixCallEvent, _ content: MatrixCallContent) {
    guard let candidates = content.json["candidates"] else { return }
    for json in candidates.elements.prefix(CallLimits.candidates) {
      guard let candidate = ICECandidate(json) else { continue }
      if isAnswered, negotiation != nil {
        guard isOpponent(event.sender, content.party) else { return }
        negotiation?.effects.append(.addCandidate(handle, candidate))
      } else if incoming.count < CallLimits.candidates {
        incoming.append(EarlyCandidate(sender: event.sender, party: content.party, candidate: candidate))
      }
    }
  }

  /// Those that came before there was a use for them, of who is now at the other end.
  mutating func addEarlyCandidates() {
    for early in incoming where isOpponent(early.sender, early.party) {
      negotiation?.effects.append(.addCandidate(handle, early.candidate))
    }
    incoming = []
  }

  mutating func negotiationCame(_ event: MatrixCallEvent, _ content: MatrixCallContent) {
    guard isAnswered, isAnswerSent || isOutgoing, !isVersion0, isOpponent(event.sender, content.party),
      let description = SessionDescription(content.json["description"])
    else { return }
    switch description.kind {
    case .offer:
      guard event.ageMilliseconds <= content.lifetime, negotiation?.offered(description.sdp) == true else { return }
    case .answer:
      negotiationExpiresAt = nil
      negotiation?.answered(description.sdp)
    }
    isHeldByOpponent = SDPText.isOnHold(description.sdp)
    learn(content.json["sdp_stream_metadata"])
    changed()
  }

  func isOpponent(_ sender: UserID, _ party: ByteString?) -> Bool {
    sender == opponent && (isVersion0 || party == opponentParty)
  }
}
