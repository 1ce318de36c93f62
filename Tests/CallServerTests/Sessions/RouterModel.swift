import MediaRouter
import Testing

/// What a router has after commands: the transports, what is on them, and what goes with what.
struct RouterModel {
  private(set) var transports: Set<TransportID> = []
  private(set) var tracks: [TrackID: TransportID] = [:]
  /// Handed on by another.
  private(set) var accepted: [TrackID: WorkerID] = [:]
  /// Which of them it shall hear.
  private(set) var sessions: [TrackID: UInt64] = [:]
  private(set) var subscriptions: [SubscriptionID: (track: TrackID, on: TransportID)] = [:]
  private(set) var recorded: [SubscriptionID: TrackID] = [:]
  private(set) var muted: Set<TrackID> = []
  private(set) var paused: Set<SubscriptionID> = []
  private(set) var limits: [SubscriptionID: LayerLimit] = [:]
  private var known: Set<UInt64> = []

  var isEmpty: Bool { transports.isEmpty && tracks.isEmpty && accepted.isEmpty && subscriptions.isEmpty && recorded.isEmpty }

  mutating func take(_ commands: [RouterCommand]) {
    for command in commands { take(command) }
  }

  mutating func take(_ command: RouterCommand) {
    switch command {
    case .open(let id, _):
      isNew(id.number)
      transports.insert(id)
    case .restart(let id, _, _, _): #expect(transports.contains(id))
    case .count, .cap: break
    case .close(let id): end(id)
    case .publish(let id, let transport, let parameters):
      isNew(id.number)
      #expect(transports.contains(transport))
      tracks[id] = transport
      sessions[id] = parameters.session
    case .accept(let id, let worker, let parameters):
      isNew(id.number)
      accepted[id] = worker
      sessions[id] = parameters.session
    case .unpublish(let id): remove(id)
    case .subscribe(let id, let track, let transport, _):
      isNew(id.number)
      #expect((tracks[track] != nil || accepted[track] != nil) && transports.contains(transport))
      subscriptions[id] = (track, transport)
    case .tap(let id, let track):
      isNew(id.number)
      #expect(tracks[track] != nil && !recorded.values.contains(track))
      recorded[id] = track
    case .refresh(let id): #expect(recorded[id] != nil)
    case .unsubscribe(let id):
      subscriptions[id] = nil
      recorded[id] = nil
    case .limit(let id, let limit): limits[id] = limit
    case .pause(let id, let isPaused): if isPaused { paused.insert(id) } else { paused.remove(id) }
    case .mute(let id, let isMuted): if isMuted { muted.insert(id) } else { muted.remove(id) }
    }
  }

  /// A transport ends with all on it.
  mutating func end(_ id: TransportID) {
    transports.remove(id)
    subscriptions = subscriptions.filter { $0.value.on != id }
    for track in tracks.filter({ $0.value == id }).keys { remove(track) }
  }

  private mutating func remove(_ id: TrackID) {
    tracks[id] = nil
    accepted[id] = nil
    sessions[id] = nil
    recorded = recorded.filter { $0.value != id }
    subscriptions = subscriptions.filter { $0.value.track != id }
  }

  private mutating func isNew(_ number: UInt64) {
    #expect(known.insert(number).inserted, "a number was used twice")
    #expect(number >> 32 == 7, "the number is of another session")
  }
}

/// The routers of several workers, and that they hand on to each other what there is.
struct WorkersModel {
  private(set) var routers: [RouterModel]

  init(_ count: Int) { routers = Array(repeating: RouterModel(), count: count) }

  var isEmpty: Bool { routers.allSatisfy(\.isEmpty) }
  var subscriptionCount: Int { routers.reduce(0) { $0 + $1.subscriptions.count } }
  /// Those that have a publisher.
  var tracks: Set<TrackID> { Set(routers.flatMap(\.tracks.keys)) }

  mutating func take(_ commands: [(worker: WorkerID, command: RouterCommand)]) {
    for (worker, command) in commands {
      routers[worker.number].take(command)
      if case .accept(let id, let from, _) = command { #expect(from != worker && routers[from.number].tracks[id] != nil) }
    }
  }

  mutating func end(_ id: TransportID) {
    for number in routers.indices where routers[number].transports.contains(id) { routers[number].end(id) }
  }
}
