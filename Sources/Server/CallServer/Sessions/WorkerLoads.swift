import MediaRouter

/// How many transports each worker has, and how many sessions are at home there: by the commands that go to them, which is sooner known than what
/// they tell themselves.
struct WorkerLoads {
  private var places: [TransportID: WorkerID] = [:]
  private(set) var transports: [Int]
  private var homes: [Int]

  init(workers count: Int) {
    transports = Array(repeating: 0, count: count)
    homes = transports
  }

  mutating func note(_ commands: [RouterCommand], on worker: WorkerID) {
    for command in commands {
      switch command {
      case .open(let id, _):
        if places.updateValue(worker, forKey: id) == nil { transports[worker.number] += 1 }
      case .close(let id): forget(id)
      default: break
      }
    }
  }

  mutating func note(_ event: RouterEvent) {
    if case .ended(let id, _) = event { forget(id) }
  }

  private mutating func forget(_ id: TransportID) {
    if let worker = places.removeValue(forKey: id) { transports[worker.number] -= 1 }
  }

  /// The home of a session that begins: the worker with the fewest transports; of several, that with the fewest sessions.
  mutating func takeHome() -> WorkerID {
    let least = transports.indices.min { (transports[$0], homes[$0]) < (transports[$1], homes[$1]) } ?? 0
    homes[least] += 1
    return WorkerID(least)
  }

  mutating func leave(home: WorkerID) { homes[home.number] -= 1 }
}
