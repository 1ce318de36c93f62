import CallServer
import Database
import HTTPServer
import Homeserver
import Telemetry

/// What the parts of a running server tell of themselves, measured whenever `/metrics` is asked for.
enum ServerMetrics {
  static func register(_ homeserver: Homeserver, _ server: HTTPServer, in metrics: Metrics = .process) {
    metrics.measured("martlet_http_connections", "Open connections of the Client-Server API.") {
      Double(server.connectionCount)
    }
    metrics.measured("martlet_stream_position", "The newest position that every sync has reached.", isCounter: true) {
      Double(homeserver.database.committedPosition)
    }
    let database = homeserver.database
    counter("martlet_database_commits_total", "Group commits.", database, metrics) { Double($0.commits) }
    counter("martlet_database_failed_commits_total", "Group commits that failed.", database, metrics) {
      Double($0.failedCommits)
    }
    counter("martlet_database_writes_total", "Write jobs committed; over commits, the mean batch.", database, metrics) {
      Double($0.writes)
    }
    counter("martlet_database_commit_seconds_total", "Time spent in COMMIT.", database, metrics) {
      Double($0.commitNanoseconds) / 1e9
    }
    metrics.measured("martlet_database_waiting_writes", "Write jobs that wait.") {
      Double(database.statistics.waitingWrites)
    }
    metrics.measured("martlet_database_waiting_reads", "Read jobs that wait.") {
      Double(database.statistics.waitingReads)
    }
  }

  static func register(_ calls: CallServer, in metrics: Metrics = .process) {
    metrics.measured("martlet_call_sessions", "Sessions with somebody in them.") {
      Double(calls.census.sessions.load(ordering: .relaxed))
    }
    metrics.measured("martlet_call_sockets", "Sockets of connections in sessions.") {
      Double(calls.census.sockets.load(ordering: .relaxed))
    }
    metrics.measured("martlet_call_transports", "Peer connections that the media router has.") {
      Double(calls.workers.total(\.census.transports))
    }
    metrics.measured("martlet_call_tracks", "Sounds and pictures that are published to the media router.") {
      Double(calls.workers.total(\.census.tracks))
    }
    metrics.measured("martlet_call_subscriptions", "How often the media router sends one of them on.") {
      Double(calls.workers.total(\.census.subscriptions))
    }
    metrics.measured(
      "martlet_call_dropped_packets_total", "Packets that one media worker handed on and another was too slow for.",
      isCounter: true
    ) {
      Double(calls.workers.total(\.droppedPackets))
    }
    metrics.measured("martlet_call_recorded_bytes", "What recordings take up.") { Double(calls.recordedBytes) }
    metrics.measured(
      "martlet_call_recorded_losses_total", "Batches of media that recordings were too slow for.", isCounter: true
    ) {
      Double(calls.recordedLosses)
    }
  }

  private static func counter(
    _ name: StaticString, _ help: StaticString, _ database: Database, _ metrics: Metrics,
    _ value: @escaping @Sendable (DatabaseStatistics) -> Double
  ) {
    metrics.measured(name, help, isCounter: true) { value(database.statistics) }
  }
}
