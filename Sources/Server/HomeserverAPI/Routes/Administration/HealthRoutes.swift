import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// How the server is: its disk, its database, what waits, how quick it is.
extension Routes {
  mutating func addHealthRoute(_ configuration: APIConfiguration) {
    let (database, tasks, name) = (homeserver.database, homeserver.administrationTasks, homeserver.configuration.serverName)
    let started = homeserver.configuration.clock.now()

    onAdmin(.get, Self.ownAdministration + "/health") { _, _ in
      let statistics = database.statistics
      let size = try await database.read { try $0.databaseSize() }
      let (disk, times) = (configuration.disk.current, configuration.requestTimes.summary)
      return .json(capacity: 1_024) { writer in
        writer.object { writer in
          writer.member("version", configuration.version)
          writer.member("server_name", name)
          writer.member("started_ts", started)
          writer.member("database_bytes", size.bytes)
          writer.member("database_log_bytes", Int64(statistics.logPages) * size.pageBytes)
          if let disk {
            writer.member("disk_free_bytes", disk.freeBytes)
            writer.member("disk_bytes", disk.capacityBytes)
          }
          if let trouble = configuration.disk.trouble { writer.member("trouble", trouble) }
          writer.member("waiting_writes", statistics.waitingWrites)
          writer.member("waiting_reads", statistics.waitingReads)
          writer.member("active_tasks", tasks.activeCount)
          writer.member("timed_requests", times.requests)
          writer.member("request_microseconds_50", times.median)
          writer.member("request_microseconds_95", times.percentile95)
          writer.member("request_microseconds_99", times.percentile99)
        }
      }
    }
  }
}
