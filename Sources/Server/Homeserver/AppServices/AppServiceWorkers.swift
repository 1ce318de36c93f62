import Database
import MatrixModel
import Outbound
import Synchronization
import Telemetry

/// The deliveries to all application services, in the background: one task each.
package final class AppServiceWorkers: Sendable {
  let deliveries: [AppServiceDelivery]
  private let tasks = Mutex<[Task<Void, Never>]>([])

  init(
    _ services: AppServices, database: Database, rooms: Rooms, receipts: Receipts, presence: Presence, http: HTTPClient,
    notifier: Notifier, clock: WallClock, log: Log
  ) {
    deliveries = services.all.filter { $0.registration.url != nil }.map {
      AppServiceDelivery($0, database: database, rooms: rooms, presence: presence, http: http, clock: clock, log: log)
    }
    guard !deliveries.isEmpty else { return }
    let told = deliveries.filter { $0.service.registration.receivesEphemeral }
    notifier.observers.withLock { [deliveries] observers in
      observers.published.append { for delivery in deliveries { delivery.signal.notify() } }
      observers.typed.append { room in
        for delivery in told {
          delivery.ephemeral.noteTyping(in: room)
          delivery.signal.notify()
        }
      }
      observers.presence.append { users in
        for delivery in told {
          delivery.ephemeral.notePresence(of: users)
          delivery.signal.notify()
        }
      }
    }
    receipts.observers.withLock {
      $0.append { receipt, room in for delivery in told { delivery.ephemeral.note(receipt, in: room) } }
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
