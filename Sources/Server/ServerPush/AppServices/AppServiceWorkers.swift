import Database
import MatrixModel
import Outbound
import ServerCore
import ServerRooms
import Synchronization
import Telemetry

/// The deliveries to all application services, in the background: one task each.
package final class AppServiceWorkers: Sendable {
  let deliveries: [AppServiceDelivery]
  private let tasks = Mutex<[Task<Void, Never>]>([])

  package init(_ services: AppServices, database: Database, rooms: Rooms, http: HTTPClient, clock: WallClock, log: Log) {
    deliveries = services.inboxes.map {
      AppServiceDelivery($0, database: database, rooms: rooms, http: http, clock: clock, log: log)
    }
  }

  /// Begins to work; what waits since the last time goes first.
  package func start() {
    tasks.withLock { [deliveries] in $0 = deliveries.map { delivery in Task { await delivery.run() } } }
  }

  package func stop() async {
    let tasks = tasks.withLock { $0 }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
