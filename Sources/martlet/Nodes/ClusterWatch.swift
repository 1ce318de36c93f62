import Database
import Homeserver
import Outbound
import Synchronization
import Telemetry

/// Looks at the other nodes of the database, and at this machine's clock. What changes is a line of the log; metrics say how it is.
final class ClusterWatch: Sendable {
  private static let pause = Duration.seconds(2), pingTimeout = Duration.seconds(2)
  private static let clockPause = Duration.seconds(60)
  /// A node whose clock is off by more does not start: what it says of time would mislead everybody.
  private static let clockLimit = Duration.seconds(30)
  /// A ping's answer is a line.
  private static let answerBytesLimit = 4_096

  private let database: Database
  private let http: HTTPClient
  private let log = Log("cluster")
  private let view = Mutex(ClusterView())
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Begins to look.
  init(_ homeserver: Homeserver) {
    database = homeserver.database
    http = homeserver.http
    task.withLock { $0 = Task { await run() } }
  }

  func stop() { task.withLock { $0 }?.cancel() }

  /// Throws `failed` if this machine's clock is too far off from the database's.
  static func checkClock(by database: Database) async throws {
    let offset = try await database.clockOffset()
    guard max(offset, .zero - offset) > clockLimit else { return }
    let seconds = Int((offset / .seconds(1)).rounded())
    throw StartError.failed(
      "the clock of this machine is \(abs(seconds)) seconds \(seconds > 0 ? "ahead of" : "behind") that of the PostgreSQL server; "
        + "nodes need the same time: set both clocks by NTP")
  }

  /// Of the other nodes that run, as far as this one knows: all, and those that do not answer at their addresses.
  var counts: (nodes: Int, unreachable: Int) { view.withLock { ($0.nodes.count, $0.unreachableCount) } }

  /// How far this machine's clock is ahead of the database's.
  var clockOffset: Duration { view.withLock { $0.clockOffset } }

  private func run() async {
    var comparesClocks = ContinuousClock.now
    while !Task.isCancelled {
      // While the database is away, what it said last is looked at.
      if let census = try? await database.census(of: Homeserver.workLease) { tell(view.withLock { $0.note(census) }) }
      await ping(view.withLock { $0.nodes })
      if ContinuousClock.now >= comparesClocks, let offset = try? await database.clockOffset() {
        comparesClocks = .now + Self.clockPause
        tell([view.withLock { $0.note(clockOffset: offset) }].compactMap(\.self))
      }
      try? await Task.sleep(for: Self.pause)
    }
  }

  private func ping(_ nodes: [NodeCensus.Node]) async {
    await withTaskGroup { group in
      for node in nodes { group.addTask { (node, await self.answers(node)) } }
      for await (node, answers) in group {
        if let news = view.withLock({ $0.note(node, answers: answers) }) { tell([news]) }
      }
    }
  }

  /// Whatever it answers, it was reached.
  private func answers(_ node: NodeCensus.Node) async -> Bool {
    let request = OutgoingRequest(
      url: "http://\(node.address)/health", timeout: Self.pingTimeout, responseBytesLimit: Self.answerBytesLimit,
      destinations: .any)
    do throws(OutboundError) {
      _ = try await http.send(request)
      return true
    } catch { return false }
  }

  private func tell(_ news: [ClusterView.News]) { for item in news where !Task.isCancelled { item.write(to: log) } }
}
