import Glibc

/// Workers that relay to each other what each of them has opened. Each has a port of its own: the first that of the address, the others those after it.
package struct MediaWorkers: Sendable {
  package static let limit = 64

  private let workers: [MediaWorker]

  /// - Parameters:
  ///   - count: 1 to `limit`.
  ///   - address: port 0 for any, for each of them.
  ///   - onTapped, onEvents: called on the thread of any of them; must not wait.
  /// - Throws: `MediaWorkerError` when an address cannot be bound, `DTLSIdentityError`.
  package init(
    _ count: Int, address: TransportAddress, takesStreams: Bool = false, limits: RouterLimits = RouterLimits(),
    onTapped: @escaping @Sendable (TappedBatch) -> Void = { _ in },
    onEvents: @escaping @Sendable ([RouterEvent]) -> Void
  ) throws {
    precondition((1...Self.limit).contains(count))
    var mailboxes: [WorkerMailbox] = []
    for _ in 0..<count {
      guard let mailbox = WorkerMailbox() else { throw MediaWorkerError(address: address, code: errno) }
      mailboxes.append(mailbox)
    }
    workers = try mailboxes.indices.map { number in
      let (port, hasNone) = address.port.addingReportingOverflow(address.port == 0 ? 0 : UInt16(number))
      guard !hasNone else { throw MediaWorkerError(address: address, code: EADDRNOTAVAIL) }
      return try MediaWorker(
        WorkerID(number), among: mailboxes, DTLSIdentity(),
        address: TransportAddress(high: address.high, low: address.low, port: port), takesStreams: takesStreams,
        limits: limits, onTapped: onTapped, onEvents: onEvents)
    }
  }

  package subscript(id: WorkerID) -> MediaWorker { workers[id.number] }

  package var ids: [WorkerID] { workers.indices.map(WorkerID.init) }
  package var addresses: [TransportAddress] { workers.map(\.address) }

  /// What all of them have together.
  package func total(_ figure: KeyPath<MediaWorker, Int> & Sendable) -> Int {
    workers.reduce(0) { $0 + $1[keyPath: figure] }
  }

  /// Starts the threads. Once.
  ///
  /// - Throws: when the system has no thread for one.
  package func start() throws(MediaWorkerError) {
    for worker in workers { try worker.start() }
  }

  /// Ends the threads and returns when they have ended.
  package func stop() async {
    for worker in workers { await worker.stop() }
  }

  /// Asks for key frames that taps lack; each worker knows its own.
  package func refresh(_ tapped: [SubscriptionID]) {
    for worker in workers { worker.submit(tapped.map { .refresh($0) }) }
  }
}
