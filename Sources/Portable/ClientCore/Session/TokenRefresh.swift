import JSON
import MatrixModel

/// The way from one access token to the next. Requests that need the next one wait here.
///
/// Spec: Client-Server API, "Refreshing access tokens".
struct TokenRefresh: Sendable {
  var request: RequestID?
  /// The session with the new tokens, until the store has it.
  var next: Session?
  /// Whether the server does not take the present token any more.
  var isTokenSpent = false
  /// Requests that wait for the new token, in order.
  var held: [RequestID] = []
  /// Requests whose token was refused while a query was under way that ends the session: its answer says what became of it.
  var suspended: [RequestID] = []
  var backoff = Backoff()
  /// A refresh ahead of time that failed is not tried again before.
  var notBefore: Int64 = 0

  var isUnderWay: Bool { request != nil || next != nil }
}

extension Client {
  /// Requests the next token if the present one has expired or soon will.
  mutating func refreshTokenIfDue() {
    guard sessionState == .signedIn, let session, let token = session.refreshToken, !refresh.isUnderWay else { return }
    if let expiry = session.expiresAtMilliseconds, expiry <= now { refresh.isTokenSpent = true }
    let isDue = session.refreshAtMilliseconds.map { $0 <= now } ?? false
    guard refresh.isTokenSpent || (isDue && now >= refresh.notBefore) else { return }
    let body = JSONWriter.object { $0.member("refresh_token", token) }
    refresh.request = request(.refresh, Endpoint.refresh.path(), body: body, for: .refreshToken)
  }

  /// The server does not know the token that a request came with.
  mutating func tokenRefused(_ token: ByteString, by error: MatrixError, _ id: RequestID, _ waiting: PendingRequest) {
    if isEnding(besides: waiting.purpose) {
      pending.requests[id] = waiting
      return refresh.suspended.append(id)
    }
    guard sessionState == .signedIn, let session, session.refreshToken != nil else {
      // Spec: "Soft logout": with it the data stays and the user logs in again to the same device.
      return endSession(keepingData: error.softLogout ?? false, failing: waiting.purpose)
    }
    guard waiting.refusals < Limits.tokenRefusals else {
      return endSession(keepingData: true, failing: waiting.purpose)
    }
    var waiting = waiting
    waiting.refusals += 1
    pending.requests[id] = waiting
    // Where the token was refreshed since, the new one is all that it takes.
    if token == session.accessToken { refresh.isTokenSpent = true }
    send(id)
  }

  mutating func refreshAnswered(_ answer: Answer) {
    refresh.request = nil
    if case .success(let json) = answer, let next = session?.refreshed(json, now: now) {
      refresh.next = next
      return write([.put(key: StoreKey.session, value: next.record)], .session)
    }
    if case .refused = answer, !answer.isTransient { return refreshRefused(answer) }
    refresh.notBefore = now + refresh.backoff.next(&random, retryAfterMilliseconds: answer.retryAfterMilliseconds)
    let held = refresh.held
    refresh.held = []
    for id in held {
      // What came of it is what has come of them; those that matter are tried again and ask for a token again.
      guard let waiting = pending.requests.removeValue(forKey: id) else { continue }
      if case .success = answer { take(.unreadable, waiting.purpose) } else { take(answer, waiting.purpose) }
    }
  }

  private mutating func refreshRefused(_ answer: Answer) {
    for id in refresh.held {
      // Who is logging out gets what they asked for.
      if let waiting = pending.requests[id], waiting.purpose.isLogOut {
        pending.requests[id] = nil
        return take(answer, waiting.purpose)
      }
    }
    endSession(keepingData: true)
  }

  /// Only now may the new token be used: after a crash the client must find it in the store.
  mutating func refreshedSessionWritten() {
    guard let next = refresh.next else { return }
    session = next
    let held = refresh.held
    refresh = TokenRefresh()
    notify(.session)
    for id in held { send(id) }
  }
}
