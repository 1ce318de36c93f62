import EventLoop
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// User-interactive authentication: which stages a client has completed on its way to an operation.
///
/// A session belongs to one operation of one user, ends after 30 minutes, and is used up by success: the operation then
/// runs once. Sessions live in memory; a restart asks the client to begin anew. Of several nodes the one that has a session answers what belongs
/// to it.
///
/// A session of a registration keeps what its requests said: a later request may say no more than `auth`. The password among it
/// lives in memory only, and no longer than the session.
///
/// Spec: Client-Server API, "User-Interactive Authentication API".
package final class InteractiveAuthentication: Sendable {
  /// A step a client can complete here.
  package enum Stage: String, Sendable {
    case dummy = "m.login.dummy"
    case password = "m.login.password"
    case registrationToken = "m.login.registration_token"
    case jsonWebToken = "org.matrix.login.jwt"
    case emailIdentity = "m.login.email.identity"
    case singleSignOn = "m.login.sso"
  }

  /// What a client has shown on its way.
  package struct Completion: Sendable {
    /// With `m.login.registration_token`.
    package let registrationToken: ByteString?
    /// With `m.login.email.identity`.
    let email: EmailProof?
  }

  /// What is being authorized: a session of one operation is of no use for another.
  package struct Operation: Hashable, Sendable {
    package let endpoint: String
    package let userID: UserID?

    package init(_ endpoint: String, of userID: UserID? = nil) {
      self.endpoint = endpoint
      self.userID = userID
    }
  }

  private struct Progress {
    let operation: Operation
    let startedMilliseconds: Int64
    var completed: [Stage] = []
    var registrationToken: ByteString?
    var email: EmailProof?
    /// What the requests of a registration said; at most about a kilobyte.
    var registration: RegistrationRequest?

    var completion: Completion { Completion(registrationToken: registrationToken, email: email) }
  }

  static let sessionMilliseconds: Int64 = 30 * 60_000
  static let sessionsLimit = 10_000

  private let sessions = Mutex<[ByteString: Progress]>([:])
  /// Whether a timer ends the sessions that keep a registration.
  private let sweepIsScheduled = Atomic<Bool>(false)
  private let clock: WallClock
  private let names: NodeNames

  package init(clock: WallClock, names: NodeNames = NodeNames()) {
    self.clock = clock
    self.names = names
  }

  /// Returns once `auth` completes one of `flows`; else throws the `InteractiveAuthenticationChallenge` to answer with.
  ///
  /// - Parameters:
  ///   - auth: the request's `auth`, nil if it has none.
  ///   - verify: whether the data given for a stage is right; not asked for stages completed before.
  @discardableResult
  package func require(
    _ flows: [[Stage]], for operation: Operation, auth: JSON?,
    verify: @Sendable (Stage, JSON) async throws -> Bool
  ) async throws -> Completion {
    guard let auth else { throw challenge(start(operation), flows) }
    guard auth.isObject else { throw MatrixError.badJSON("'auth' is not an object.") }
    let session = try session(of: auth, operation, flows)
    guard let type = auth["type"]?.string else {
      // "May be omitted … for example, via the fallback mechanism."
      guard let completion = finishOutside(session, flows) else { throw challenge(session, flows) }
      return completion
    }
    guard let stage = Stage(rawValue: type), isNext(stage, in: session, flows) else {
      throw challenge(
        session, flows, MatrixError(status: 401, .unrecognized, "This stage is not the next of any flow."))
    }
    if !completed(session).contains(stage), try await !verify(stage, auth) {
      throw challenge(session, flows, .forbidden("The stage '\(type)' failed: what was given is not right."))
    }
    guard let completion = finish(stage, auth, in: session, flows) else { throw challenge(session, flows) }
    return completion
  }

  /// How many sessions under way have shown each registration token.
  package var registrationTokens: [ByteString: Int64] {
    let now = clock.now()
    return sessions.withLock { sessions in
      var counts: [ByteString: Int64] = [:]
      for progress in sessions.values where now - progress.startedMilliseconds < Self.sessionMilliseconds {
        if let token = progress.registrationToken { counts[token, default: 0] += 1 }
      }
      return counts
    }
  }

  // MARK: Sessions

  private func start(_ operation: Operation) -> ByteString {
    let session = ByteString(names.marked(RandomText.urlSafe(bytes: 18)))
    let now = clock.now()
    sessions.withLock { sessions in
      if sessions.count >= Self.sessionsLimit { Self.makeRoom(&sessions, now) }
      sessions[session] = Progress(operation: operation, startedMilliseconds: now)
    }
    return session
  }

  /// The session that `auth` names, or a new one where it names none: a client may give its first stage at once.
  ///
  /// Throws the challenge of a new session for one that is not known or has ended, and `M_FORBIDDEN` for one of another operation.
  private func session(of auth: JSON, _ operation: Operation, _ flows: [[Stage]]) throws -> ByteString {
    guard let name = auth["session"]?.text else { return start(operation) }
    guard let known = progress(of: name) else {
      let ended = challenge(start(operation), flows, .unknown(status: 401, "The session is not known or has ended."))
      try names.check(name.string, orElse: ended)
      throw ended
    }
    // Another user or another request may have begun it: a confirmation must not serve for something else.
    guard known.operation == operation else {
      throw MatrixError.forbidden("This session was begun for another request, or by another user. Begin anew without it.")
    }
    return name
  }

  /// nil for a session that is not known or has ended.
  private func progress(of session: ByteString) -> Progress? {
    let now = clock.now()
    return sessions.withLock { sessions in
      guard let progress = sessions[session], now - progress.startedMilliseconds < Self.sessionMilliseconds else { return nil }
      return progress
    }
  }

  private func completed(_ session: ByteString) -> [Stage] {
    sessions.withLock { $0[session]?.completed ?? [] }
  }

  /// Whether the stage follows what was completed in some flow, or was completed before.
  private func isNext(_ stage: Stage, in session: ByteString, _ flows: [[Stage]]) -> Bool {
    let completed = completed(session)
    return completed.contains(stage) || flows.contains { $0.starts(with: completed + [stage]) }
  }

  /// Notes a stage; an answer where it was the last of a flow, for the one caller that gets there first.
  private func finish(_ stage: Stage, _ auth: JSON, in session: ByteString, _ flows: [[Stage]]) -> Completion? {
    sessions.withLock { sessions in
      guard var progress = sessions[session] else { return nil }
      if !progress.completed.contains(stage) {
        progress.completed.append(stage)
        if stage == .registrationToken { progress.registrationToken = auth["token"]?.text }
        if stage == .emailIdentity { progress.email = auth["threepid_creds"].flatMap { try? EmailProof($0) } }
      }
      guard flows.contains(progress.completed) else {
        sessions[session] = progress
        return nil
      }
      sessions[session] = nil
      return progress.completion
    }
  }

  // MARK: What a registration said

  /// The request, with what earlier requests of its session said and this one leaves out.
  func supplemented(_ request: RegistrationRequest) throws -> RegistrationRequest {
    guard let session = request.auth?["session"]?.text else { return request }
    guard let known = progress(of: session) else {
      try names.check(session.string, orElse: MatrixError.unknown(status: 401, "The session is not known or has ended."))
      return request
    }
    return known.registration.map { request.supplemented(by: $0) } ?? request
  }

  /// Keeps what a registration says, but for `auth`, until the session ends.
  func keep(_ request: RegistrationRequest, in session: ByteString) {
    var request = request
    request.auth = nil
    sessions.withLock { [request] in $0[session]?.registration = request }
    if !sweepIsScheduled.exchange(true, ordering: .relaxed) { scheduleSweep(afterMilliseconds: Self.sessionMilliseconds) }
  }

  private func scheduleSweep(afterMilliseconds delay: Int64) {
    _ = Notifier.loop?.schedule(after: .milliseconds(delay)) { [weak self] in self?.sweep() }
  }

  /// Forgets sessions that have ended, and comes back when the oldest that keeps a registration ends.
  func sweep() {
    let now = clock.now()
    let oldest = sessions.withLock { sessions in
      sessions = sessions.filter { now - $0.value.startedMilliseconds < Self.sessionMilliseconds }
      return sessions.values.filter { $0.registration != nil }.map(\.startedMilliseconds).min()
    }
    guard let oldest else {
      sweepIsScheduled.store(false, ordering: .relaxed)
      return
    }
    scheduleSweep(afterMilliseconds: oldest + Self.sessionMilliseconds - now)
  }

  /// Sessions that keep a registration.
  var keptRegistrations: Int { sessions.withLock { $0.values.count { $0.registration != nil } } }

  // MARK: What is completed in a browser

  /// Whose operation the session is for; nil for one that is not known, has ended or is nobody's.
  func owner(of session: ByteString) -> UserID? {
    progress(of: session)?.operation.userID
  }

  /// Throws `Elsewhere` for a session of another node.
  func checkPlace(of session: ByteString, orElse error: MatrixError) throws {
    if progress(of: session) == nil { try names.check(session.string, orElse: error) }
  }

  /// Notes a stage that was completed outside of any request; false where the session is not of that user.
  func complete(_ stage: Stage, in session: ByteString, by userID: UserID) -> Bool {
    guard owner(of: session) == userID else { return false }
    return sessions.withLock { sessions in
      guard var progress = sessions[session] else { return false }
      if !progress.completed.contains(stage) { progress.completed.append(stage) }
      sessions[session] = progress
      return true
    }
  }

  private func finishOutside(_ session: ByteString, _ flows: [[Stage]]) -> Completion? {
    sessions.withLock { sessions in
      guard let progress = sessions[session], flows.contains(progress.completed) else { return nil }
      sessions[session] = nil
      return progress.completion
    }
  }

  /// Ended sessions go; where that is not enough, the older half does.
  private static func makeRoom(_ sessions: inout [ByteString: Progress], _ now: Int64) {
    sessions = sessions.filter { now - $0.value.startedMilliseconds < sessionMilliseconds }
    guard sessions.count >= sessionsLimit else { return }
    let starts = sessions.values.map(\.startedMilliseconds).sorted()
    let middle = starts[starts.count / 2]
    sessions = sessions.filter { $0.value.startedMilliseconds > middle }
  }

  private func challenge(_ session: ByteString, _ flows: [[Stage]], _ error: MatrixError? = nil)
    -> InteractiveAuthenticationChallenge
  {
    InteractiveAuthenticationChallenge(flows: flows, completed: completed(session), session: session, error: error)
  }
}

/// The answer to a request that needs further stages; status 401.
package struct InteractiveAuthenticationChallenge: Error {
  package let flows: [[InteractiveAuthentication.Stage]]
  package let completed: [InteractiveAuthentication.Stage]
  package let session: ByteString
  /// Why the stage just tried failed; nil where none was.
  package let error: MatrixError?

  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("flows")
      writer.array { writer in
        for flow in flows {
          writer.object { writer in
            writer.array("stages", flow) { $1.write($0.rawValue) }
          }
        }
      }
      writer.member("params", raw: Array("{}".utf8))
      writer.member("session", session)
      if !completed.isEmpty {
        writer.array("completed", completed) { $1.write($0.rawValue) }
      }
      if let error {
        writer.member("errcode", error.code.text)
        writer.member("error", error.message)
      }
    }
  }
}
