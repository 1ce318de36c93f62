import CLinux
import Glibc
import Synchronization

/// What others have for a worker: commands, packets that other workers relay, and the order to end. An eventfd wakes its thread.
final class WorkerMailbox: Sendable {
  /// Of relayed packets that wait: pictures that would be more are dropped; sound may take up the rest, up to the second. At 100 Mbit/s a worker
  /// that is a third of a second behind loses pictures.
  static let pictureBytesLimit = 4 << 20
  static let bytesLimit = 5 << 20
  /// Batches that are kept to be filled again, and what each may have of memory.
  private static let sparesLimit = 8
  private static let spareBytesLimit = 512 << 10

  struct Delivery: Sendable {
    let worker: WorkerID
    var batch: RelayedBatch
  }

  struct Content: Sendable {
    var commands: [RouterCommand] = []
    var deliveries: [Delivery] = []
    var mustEnd = false
  }

  private struct State {
    var content = Content()
    var waitingBytes = 0
    var spares: [RelayedBatch] = []
    var isRung = false
    var end = ThreadEnd()
  }

  /// Can be read when there is something.
  let descriptor: Int32
  /// Relayed packets that found no room.
  let dropped = Atomic<Int>(0)
  private let state = Mutex(State())

  /// nil, with `errno`, where the system has no eventfd for it.
  init?() {
    descriptor = datagrams_mailbox()
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  // MARK: From any thread

  func submit(_ commands: [RouterCommand]) {
    change { $0.content.commands += commands }
  }

  /// Takes what a worker relays and gives it an empty batch to fill. What there is no room for is dropped, pictures first.
  func give(_ batch: inout RelayedBatch, from worker: WorkerID) {
    var lost = 0
    change { state in
      let count = batch.packetCount
      if state.waitingBytes + batch.cost > Self.pictureBytesLimit { batch.removePictures() }
      if state.waitingBytes + batch.cost > Self.bytesLimit { batch.removeMedia() }
      lost = count - batch.packetCount
      state.waitingBytes += batch.cost
      var taken = state.spares.popLast() ?? RelayedBatch()
      swap(&taken, &batch)
      if !taken.isEmpty { state.content.deliveries.append(Delivery(worker: worker, batch: taken)) }
    }
    if lost > 0 { dropped.add(lost, ordering: .relaxed) }
  }

  /// Asks the thread to end; `done` is resumed when it has.
  func end(_ done: CheckedContinuation<Void, Never>) {
    var isOver = false
    change { isOver = !$0.end.wait(done) }
    if isOver { done.resume() }
  }

  private func change(_ body: (inout State) -> Void) {
    let mustRing = state.withLock { state in
      body(&state)
      defer { state.isRung = true }
      return !state.isRung
    }
    guard mustRing else { return }
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  // MARK: From the worker's thread

  /// Puts what there is into `content`, whose batches have been read and are filled again.
  ///
  /// - Parameter isRung: that the descriptor can be read.
  func exchange(_ content: inout Content, isRung: Bool) {
    if isRung {
      var count: UInt64 = 0
      _ = Glibc.read(descriptor, &count, 8)
    }
    content.commands.removeAll(keepingCapacity: true)
    for index in content.deliveries.indices { content.deliveries[index].batch.removeAll(keeping: Self.spareBytesLimit) }
    state.withLock { state in
      while let delivery = content.deliveries.popLast(), state.spares.count < Self.sparesLimit {
        state.spares.append(delivery.batch)
      }
      content.deliveries.removeAll(keepingCapacity: true)
      swap(&content, &state.content)
      content.mustEnd = state.end.isWanted
      (state.waitingBytes, state.isRung) = (0, false)
    }
  }

  /// Called last by the thread. Returns the tasks to resume.
  func finish() -> [CheckedContinuation<Void, Never>] { state.withLock { $0.end.finish() } }
}
