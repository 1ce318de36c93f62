import CLinux
import Glibc
import Synchronization

/// What others have for a worker: commands, what other workers hand on, and that it shall end. An eventfd wakes its thread.
final class WorkerMailbox: Sendable {
  /// Of what is handed on and waits: pictures that would be more are dropped; sound may take up the rest, up to the second. At 100 Mbit/s a worker
  /// that is a third of a second behind loses pictures.
  static let pictureBytesLimit = 4 << 20
  static let bytesLimit = 5 << 20
  /// Batches that are kept to be filled again, and what each may have of memory.
  private static let sparesLimit = 8
  private static let spareBytesLimit = 512 << 10

  struct Delivery: Sendable {
    let worker: WorkerID
    var handOff: HandOff
  }

  struct Content: Sendable {
    var commands: [RouterCommand] = []
    var deliveries: [Delivery] = []
    var mustEnd = false
  }

  private struct State {
    var content = Content()
    var waitingBytes = 0
    var spares: [HandOff] = []
    var isRung = false
    var end = ThreadEnd()
  }

  /// Can be read when there is something.
  let descriptor: Int32
  /// Packets that were handed on and found no room.
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

  /// Takes what a worker hands on and gives it an empty batch to fill. What there is no room for is dropped, pictures first.
  func give(_ handOff: inout HandOff, from worker: WorkerID) {
    var lost = 0
    change { state in
      let count = handOff.packetCount
      if state.waitingBytes + handOff.cost > Self.pictureBytesLimit { handOff.removePictures() }
      if state.waitingBytes + handOff.cost > Self.bytesLimit { handOff.removeMedia() }
      lost = count - handOff.packetCount
      state.waitingBytes += handOff.cost
      var batch = state.spares.popLast() ?? HandOff()
      swap(&batch, &handOff)
      if !batch.isEmpty { state.content.deliveries.append(Delivery(worker: worker, handOff: batch)) }
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
    for index in content.deliveries.indices { content.deliveries[index].handOff.removeAll(keeping: Self.spareBytesLimit) }
    state.withLock { state in
      while let delivery = content.deliveries.popLast(), state.spares.count < Self.sparesLimit {
        state.spares.append(delivery.handOff)
      }
      content.deliveries.removeAll(keepingCapacity: true)
      swap(&content, &state.content)
      content.mustEnd = state.end.isWanted
      (state.waitingBytes, state.isRung) = (0, false)
    }
  }

  /// The thread's last: whom it resumes.
  func finish() -> [CheckedContinuation<Void, Never>] { state.withLock { $0.end.finish() } }
}
