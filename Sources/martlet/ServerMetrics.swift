import CallServer
import Database
import HTTPServer
import Homeserver
import ServerAccounts
import ServerCore
import Telemetry

/// The metrics of the parts of a running server. They are measured at each request for `/metrics`.
enum ServerMetrics {
  static func register(_ homeserver: Homeserver, _ server: HTTPServer, in metrics: Metrics = .process) {
    metrics.measured("martlet_http_connections", "Open connections of the Client-Server API.") {
      Double(server.connectionCount)
    }
    metrics.measured("martlet_stream_position", "The newest position that every sync has reached.", isCounter: true) {
      Double(homeserver.database.committedPosition)
    }
    let database = homeserver.database
    if database.isBusConnected != nil {
      metrics.measured("martlet_bus_connected", "1 while the NATS server is there, else 0.") {
        database.isBusConnected == true ? 1 : 0
      }
    }
    counter("martlet_database_commits_total", "Group commits.", database, metrics) { Double($0.commits) }
    counter("martlet_database_failed_commits_total", "Group commits that failed.", database, metrics) {
      Double($0.failedCommits)
    }
    counter(
      "martlet_database_writes_total", "Committed write jobs. Divided by the commits, this is the mean batch.", database,
      metrics
    ) {
      Double($0.writes)
    }
    counter("martlet_database_commit_seconds_total", "Time spent in COMMIT.", database, metrics) {
      Double($0.commitNanoseconds) / 1e9
    }
    counter("martlet_database_exchanges_total", "Ways of the writer to PostgreSQL and back; 0 with SQLite.", database, metrics)
    {
      Double($0.exchanges)
    }
    counter(
      "martlet_database_unanswered_commits_kept_total", "Commits that PostgreSQL did not answer and that were durable.",
      database, metrics
    ) { Double($0.unansweredKept) }
    counter(
      "martlet_database_unanswered_commits_undone_total", "Commits that PostgreSQL did not answer and that were not durable.",
      database,
      metrics
    ) { Double($0.unansweredUndone) }
    counter(
      "martlet_database_split_batches_total", "Batches whose jobs ran again one by one because a statement of one had failed.",
      database,
      metrics
    ) { Double($0.splitBatches) }
    counter(
      "martlet_database_jumps_total", "Times PostgreSQL was found in another state than this server had left it.", database,
      metrics
    ) { Double($0.jumps) }
    metrics.measured(
      "martlet_database_away", "1 while the PostgreSQL server cannot be reached, as far as reads and writes have found; else 0."
    ) { database.isAway ? 1 : 0 }
    metrics.measured("martlet_database_waiting_writes", "Waiting write jobs.") {
      Double(database.statistics.waitingWrites)
    }
    metrics.measured("martlet_database_waiting_reads", "Waiting read jobs.") {
      Double(database.statistics.waitingReads)
    }
    if database.isNode { register(node: database, in: metrics) }
    register(homeserver.deviceLists.census, isNode: database.isNode, in: metrics)
  }

  private static func register(node database: Database, in metrics: Metrics) {
    metrics.measured("martlet_cluster_lag", "Commits of other nodes that this one knows of and has not applied yet.") {
      Double(database.statistics.lag)
    }
    metrics.measured(
      "martlet_cluster_leases", "Leases that this node has: 1 at the node that does what only one does, 0 at the others."
    ) { Double(database.statistics.leases) }
  }

  static func register(_ watch: ClusterWatch, in metrics: Metrics = .process) {
    metrics.measured("martlet_cluster_nodes", "Other nodes that run, as far as this one knows.") { Double(watch.counts.nodes) }
    metrics.measured(
      "martlet_cluster_unreachable_nodes", "Other nodes that run and do not answer this one at their cluster.address."
    ) { Double(watch.counts.unreachable) }
    metrics.measured(
      "martlet_cluster_clock_offset_seconds",
      "How far this machine's clock is ahead of the database's, at least; negative if it is behind. Compared every minute."
    ) { watch.clockOffset / .seconds(1) }
  }

  private static func register(_ devices: DeviceCensus, isNode: Bool, in metrics: Metrics) {
    func measured(_ name: StaticString, _ help: StaticString, _ figure: DeviceCensus.Figure) {
      metrics.measured(name, help, isCounter: figure != .waitingMessages) { Double(devices[figure]) }
    }
    measured("martlet_one_time_keys_uploaded_total", "One-time keys that devices uploaded.", .uploadedKeys)
    measured("martlet_one_time_keys_claimed_total", "One-time keys that were given to those who claimed one.", .claimedKeys)
    measured(
      "martlet_fallback_keys_claimed_total", "Claims answered with the fallback key, as no one-time key was left.",
      .fallbackClaims)
    measured("martlet_empty_claims_total", "Claims of devices that had no key at all.", .emptyClaims)
    measured("martlet_to_device_messages_total", "Messages to devices, counted for each receiver.", .sentMessages)
    measured(
      "martlet_to_device_dropped_total", "Messages dropped because too many waited for a device.", .droppedMessages)
    // A node counts what it does itself: messages that came by one go by another.
    if !isNode { measured("martlet_to_device_waiting", "Messages that wait for their devices.", .waitingMessages) }
  }

  static func register(_ disk: DiskSpace, in metrics: Metrics = .process) {
    metrics.measured("martlet_disk_free_bytes", "Space left on the disk of the data folder; -1 if unknown.") {
      Double(disk.current?.freeBytes ?? -1)
    }
    metrics.measured("martlet_disk_full", "1 while requests that need space are refused, else 0.") {
      disk.trouble == nil ? 0 : 1
    }
    metrics.measured(
      "martlet_disk_refused_requests_total", "Requests refused because the disk was full.", isCounter: true
    ) {
      Double(disk.refusedRequests)
    }
  }

  static func register(_ calls: CallServer, in metrics: Metrics = .process) {
    metrics.measured("martlet_call_sessions", "Sessions with at least one participant.") {
      Double(calls.census.sessions.load(ordering: .relaxed))
    }
    metrics.measured("martlet_call_sockets", "WebSockets of participants in sessions.") {
      Double(calls.census.sockets.load(ordering: .relaxed))
    }
    metrics.measured("martlet_call_carried_sockets", "WebSockets of participants whose sessions other nodes have.") {
      Double(calls.carriedSockets)
    }
    metrics.measured("martlet_call_transports", "Peer connections of the media router.") {
      Double(calls.workers.total(\.census.transports))
    }
    metrics.measured("martlet_call_tracks", "Tracks that participants publish to the media router.") {
      Double(calls.workers.total(\.census.tracks))
    }
    metrics.measured("martlet_call_subscriptions", "Tracks that the media router forwards, counted for each subscriber.") {
      Double(calls.workers.total(\.census.subscriptions))
    }
    metrics.measured(
      "martlet_call_dropped_packets_total",
      "Packets from one media worker to another that were dropped because the other was too slow.",
      isCounter: true
    ) {
      Double(calls.workers.total(\.droppedPackets))
    }
    metrics.measured("martlet_call_recorded_bytes", "Bytes of all recordings.") { Double(calls.recordedBytes) }
    metrics.measured(
      "martlet_call_recorded_losses_total", "Batches of media that were lost because recordings were too slow.", isCounter: true
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
