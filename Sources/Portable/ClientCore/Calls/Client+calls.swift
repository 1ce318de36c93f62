import JSON
import MatrixModel

/// A call that has no answer yet: its request is under way, or it waits until the server takes it again.
struct OngoingCall: Sendable {
  let request: CallRequest
  var requestID: RequestID?
  var timer: TimerID?
  /// What it has waited in all for a server that takes no more requests.
  var waitedMilliseconds: Int64 = 0
}

extension Client {
  mutating func call(_ request: CallRequest, _ id: CommandID) {
    guard request.endpoint.access == .anyone || sessionState == .signedIn else {
      return emit(.callEnded(id, .failed(.notSignedIn)))
    }
    calls[id] = OngoingCall(request: request)
    sendCall(id)
  }

  mutating func sendCall(_ id: CommandID) {
    guard let call = calls[id] else { return }
    calls[id]?.timer = nil
    // What anyone may ask, some servers tell only those who are signed in.
    let asked = call.request
    if let blob = asked.blob {
      let request = upload(blob, asked.endpoint, asked.target, mimeType: asked.contentType, for: .call(id))
      calls[id]?.requestID = request
      return
    }
    let request = request(
      asked.endpoint, asked.target, body: asked.wholeBody, sendsToken: sessionState == .signedIn, for: .call(id))
    calls[id]?.requestID = request
  }

  mutating func callAnswered(_ answer: Answer, _ id: CommandID) {
    calls[id]?.requestID = nil
    switch answer {
    case .success(let json):
      let endsSession = calls[id]?.request.endsSession ?? false
      endCall(id, .answer(json))
      if endsSession { endSession(keepingData: false) }
    case .refused(let error, .some(let body)) where error.status == 401:
      if let needed = InteractiveAuthentication(body) { return endCall(id, .failed(.authenticationNeeded(needed))) }
      endCall(id, .failed(answer.error ?? .badAnswer))
    default:
      if waits(id, answer) { return }
      endCall(id, .failed(answer.error ?? .badAnswer))
    }
  }

  /// Whether the call goes out again once the server takes requests again. Spec: "Rate limiting".
  private mutating func waits(_ id: CommandID, _ answer: Answer) -> Bool {
    guard var call = calls[id], let wait = answer.limitedForMilliseconds,
      wait <= Limits.callWaitMilliseconds - call.waitedMilliseconds
    else { return false }
    call.waitedMilliseconds += wait
    call.timer = startTimer(wait, .call(id))
    calls[id] = call
    return true
  }

  /// Whoever asked for the command or call does not wait any more.
  mutating func cancel(_ id: CommandID) {
    guard id != 0 else { return }
    if calls[id] != nil { return endCall(id, .failed(.cancelled)) }
    cancelPushRuleChange(id)
    if stopLearning(for: id) { return }
    for request in pending.requests.keys {
      guard let waiting = pending.requests[request], waiting.purpose.commandID == id else { continue }
      cancelRequest(request)
      take(.cancelled, waiting.purpose)
    }
  }

  /// All of them: the session is over, or rests.
  mutating func endCalls(with error: ClientError) {
    for id in calls.keys { endCall(id, .failed(error)) }
  }

  private mutating func endCall(_ id: CommandID, _ result: CallResult) {
    guard var call = calls.removeValue(forKey: id) else { return }
    if let request = call.requestID { cancelRequest(request) }
    cancelTimer(&call.timer)
    emit(.callEnded(id, result))
    guard call.request.endsSession, case .failed = result else { return }
    let suspended = refresh.suspended
    refresh.suspended = []
    for request in suspended { send(request) }
  }

  /// Whether the request is of a `Call.passedOn`: whoever asked may outlive this client.
  package func isPassedOn(_ id: RequestID) -> Bool {
    guard case .call(let call)? = pending.requests[id]?.purpose else { return false }
    return calls[call]?.request.isPassedOn ?? false
  }

  /// Whether a call is under way, other than this, that ends the session.
  func isEnding(besides purpose: RequestPurpose) -> Bool {
    calls.keys.contains { id in
      if case .call(id) = purpose { return false }
      return calls[id].map { $0.request.endsSession && $0.requestID != nil } ?? false
    }
  }
}

extension Answer {
  /// How long the server takes no more requests; nil where it says nothing of the kind.
  var limitedForMilliseconds: Int64? {
    guard case .refused(let error, _) = self, error.status == 429 || error.code == .limitExceeded else { return nil }
    return max(error.retryAfterMilliseconds ?? Limits.backoffFirstMilliseconds, Limits.callPauseMilliseconds)
  }
}
