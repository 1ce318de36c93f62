import JSON

/// Candidates wait for each other, so that there are few events. Spec: "ICE Candidate Batching", "End-of-candidates".
struct CandidateBatch: Sendable {
  private(set) var candidates: [ICECandidate] = []
  /// When they go; nil where there is nothing to send or nobody to send it to yet.
  private(set) var sendAt: Int64?
  private var notBefore: Int64?
  private var isComplete = false

  /// The invite or answer is sent.
  mutating func begin(at time: Int64, now: Int64) {
    notBefore = time
    schedule(now)
  }

  mutating func add(_ candidate: ICECandidate?, now: Int64) {
    guard !isComplete, candidates.count < CallLimits.candidates else { return }
    isComplete = candidate == nil || candidate?.candidate.isEmpty == true
    candidates.append(candidate ?? ICECandidate(candidate: "", mid: nil, lineIndex: nil))
    schedule(now)
  }

  /// ICE begins anew: there are candidates again.
  mutating func restart() { isComplete = false }

  mutating func take() -> [ICECandidate] {
    let batch = candidates
    candidates = []
    sendAt = nil
    return batch
  }

  private mutating func schedule(_ now: Int64) {
    guard let notBefore, !candidates.isEmpty else { return }
    sendAt = isComplete ? now : sendAt ?? max(notBefore, now + CallLimits.candidatesAfterAnswerMilliseconds)
  }
}
