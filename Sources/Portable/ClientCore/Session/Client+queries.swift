import JSON
import MatrixModel

/// A query without an answer so far: its request is under way, or it waits until the server takes requests again.
struct OngoingQuery: Sendable {
  var request: QueryRequest
  /// What it sends into an encrypted room, until that is encrypted.
  var event: PassedOnEvent?
  var requestID: RequestID?
  var timer: TimerID?
  /// How long it has waited in all for a server that takes no more requests.
  var waitedMilliseconds: Int64 = 0
}

extension Client {
  mutating func ask(_ request: QueryRequest, _ id: CommandID) {
    guard request.endpoint.access == .anyone || sessionState == .signedIn else {
      return emit(.queryEnded(id, .failed(.notSignedIn)))
    }
    guard let event = PassedOnEvent(request), rooms[event.room]?.isEncrypted ?? false else {
      queries[id] = OngoingQuery(request: request)
      return sendQuery(id)
    }
    guard encrypts else { return emit(.queryEnded(id, .failed(.encryptedRoom))) }
    queries[id] = OngoingQuery(request: request, event: event)
    encryptQuery(id)
  }

  mutating func sendQuery(_ id: CommandID) {
    guard let query = queries[id] else { return }
    queries[id]?.timer = nil
    // What anyone may ask, some servers tell only those who are signed in.
    let asked = query.request
    if let blob = asked.blob {
      let request = upload(blob, asked.endpoint, asked.target, mimeType: asked.contentType, for: .query(id))
      queries[id]?.requestID = request
      return
    }
    let request = request(
      asked.endpoint, asked.target, body: asked.wholeBody, contentType: asked.contentType?.string,
      sendsToken: sessionState == .signedIn, for: .query(id))
    queries[id]?.requestID = request
  }

  mutating func queryAnswered(_ answer: Answer, _ id: CommandID) {
    queries[id]?.requestID = nil
    switch answer {
    case .success(let json):
      let endsSession = queries[id]?.request.endsSession ?? false
      endQuery(id, .answer(json))
      if endsSession { endSession(keepingData: false) }
    case .refused(let error, .some(let body)) where error.status == 401:
      if let needed = InteractiveAuthentication(body) { return endQuery(id, .failed(.authenticationNeeded(needed))) }
      endQuery(id, .failed(answer.error ?? .badAnswer))
    default:
      if waits(id, answer) { return }
      endQuery(id, .failed(answer.error ?? .badAnswer))
    }
  }

  /// Whether the query goes out again once the server takes requests again. Spec: "Rate limiting".
  private mutating func waits(_ id: CommandID, _ answer: Answer) -> Bool {
    guard var query = queries[id], let wait = answer.limitedForMilliseconds,
      wait <= Limits.queryWaitMilliseconds - query.waitedMilliseconds
    else { return false }
    query.waitedMilliseconds += wait
    query.timer = startTimer(wait, .query(id))
    queries[id] = query
    return true
  }

  /// The caller does not wait for the command or query any more.
  mutating func cancel(_ id: CommandID) {
    guard id != 0 else { return }
    if queries[id] != nil { return endQuery(id, .failed(.cancelled)) }
    cancelPushRuleChange(id)
    if stopLearning(for: id) { return }
    for request in pending.requests.keys {
      guard let waiting = pending.requests[request], waiting.purpose.commandID == id else { continue }
      cancelRequest(request)
      take(.cancelled, waiting.purpose)
    }
  }

  /// Ends all queries: the session is over, or the client pauses.
  mutating func endQueries(with error: ClientError) {
    for id in queries.keys { endQuery(id, .failed(error)) }
  }

  mutating func endQuery(_ id: CommandID, _ result: QueryResult) {
    guard var query = queries.removeValue(forKey: id) else { return }
    if let request = query.requestID { cancelRequest(request) }
    cancelTimer(&query.timer)
    emit(.queryEnded(id, result))
    if query.request.endsSession, case .failed = result { sendSuspended() }
  }

  /// What would have ended the session did not: what was refused meanwhile is sent again.
  mutating func sendSuspended() {
    let suspended = refresh.suspended
    refresh.suspended = []
    for request in suspended { send(request) }
  }

  /// Whether the request is of a `Query.passedOn`: its caller may outlive this client.
  package func isPassedOn(_ id: RequestID) -> Bool {
    guard case .query(let id)? = pending.requests[id]?.purpose else { return false }
    return queries[id]?.request.isPassedOn ?? false
  }

  /// Whether a request that ends the session is under way, other than this one.
  func isEnding(besides purpose: RequestPurpose) -> Bool {
    if !purpose.isLogOutEverywhere, pending.requests.values.contains(where: { $0.purpose.isLogOutEverywhere }) { return true }
    return queries.keys.contains { id in
      if case .query(id) = purpose { return false }
      return queries[id].map { $0.request.endsSession && $0.requestID != nil } ?? false
    }
  }
}

extension Answer {
  /// How long the server takes no more requests; nil where it says nothing of the kind.
  var limitedForMilliseconds: Int64? {
    guard case .refused(let error, _) = self, error.status == 429 || error.code == .limitExceeded else { return nil }
    return max(error.retryAfterMilliseconds ?? Limits.backoffFirstMilliseconds, Limits.queryPauseMilliseconds)
  }
}
