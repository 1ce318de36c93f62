import MatrixModel
import Outbound
import ServerCore
import Synchronization
import Telemetry

/// Tells applications' servers what happens in their sessions: one request at a time to each, in order, tried again for a while.
///
/// Waiting requests are in memory and are lost when the server stops. Each request is signed with the project's secret, so that the receiver
/// knows where it comes from: `Martlet-Signature: t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of `SECONDS.BODY`.
final class Callbacks: Sendable {
  /// Where a callback goes, and what it is signed with.
  struct Target: Sendable, Equatable {
    let url: String
    let secret: String
  }

  private struct Line {
    var waiting: [[UInt8]] = []
    var task: Task<Void, Never>?
  }

  private struct State {
    var lines: [ProjectID: Line] = [:]
    var isOver = false
  }

  private let http: HTTPClient
  private let clock: WallClock
  private let target: @Sendable (ProjectID) -> Target?
  private let retryDelay: RetryDelay
  private let log = Log("calls")
  private let state = Mutex(State())

  /// - Parameter target: nil for a project that wants none.
  init(
    _ http: HTTPClient, clock: WallClock, retryDelay: RetryDelay = RetryDelay(longestMilliseconds: 60_000),
    target: @escaping @Sendable (ProjectID) -> Target?
  ) {
    self.http = http
    self.clock = clock
    self.retryDelay = retryDelay
    self.target = target
  }

  func wants(_ project: ProjectID) -> Bool { target(project) != nil }

  /// Sends it after what was posted before. What comes while too much waits is left out.
  func post(_ body: [UInt8], for project: ProjectID) {
    state.withLock { state in
      guard !state.isOver else { return }
      guard state.lines[project, default: Line()].waiting.count < CallLimits.callbacksWaiting else {
        return log.warning("too many callbacks wait", ["project": .text(project.string)])
      }
      state.lines[project, default: Line()].waiting.append(body)
      guard state.lines[project]?.task == nil else { return }
      state.lines[project]?.task = Task { await self.work(for: project) }
    }
  }

  /// Without what is on its way.
  func waiting(for project: ProjectID) -> Int { state.withLock { $0.lines[project]?.waiting.count ?? 0 } }

  /// What waits is dropped; returns when nothing is on its way.
  func shutdown() async {
    let tasks = state.withLock { state in
      state.isOver = true
      return state.lines.values.compactMap(\.task)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  private func work(for project: ProjectID) async {
    while let body = next(of: project) { await deliver(body, for: project) }
  }

  /// nil ends the work.
  private func next(of project: ProjectID) -> [UInt8]? {
    state.withLock { state in
      guard !state.isOver, let first = state.lines[project]?.waiting.first else {
        state.lines[project] = nil
        return nil
      }
      state.lines[project]?.waiting.removeFirst()
      return first
    }
  }

  private func deliver(_ body: [UInt8], for project: ProjectID) async {
    for attempt in 1...CallLimits.callbackAttempts {
      guard let target = target(project), !Task.isCancelled else { return }
      let answer: Result<IncomingResponse, OutboundError>
      do throws(OutboundError) { answer = .success(try await http.send(request(body, to: target))) } catch {
        answer = .failure(error)
      }
      if case .success(let response) = answer, (200..<300).contains(response.status) { return }
      guard attempt < CallLimits.callbackAttempts else { break }
      do { try await Task.sleep(for: .milliseconds(retryDelay.milliseconds(after: Int64(attempt)))) } catch { return }
    }
    log.warning("a callback was not taken", ["project": .text(project.string)])
  }

  private func request(_ body: [UInt8], to target: Target) -> OutgoingRequest {
    let seconds = clock.now() / 1_000
    let digest = KeyedHash.sha256.digest(of: Array("\(seconds).".utf8) + body, key: Array(target.secret.utf8))
    return OutgoingRequest(
      "POST", url: target.url,
      headers: [
        ("Content-Type", "application/json"), ("Martlet-Signature", "t=\(seconds),v1=\(KeyedHash.hexadecimal(digest))")
      ], body: body, timeout: CallLimits.callbackTimeout, responseBytesLimit: 0, destinations: .any)
  }
}
