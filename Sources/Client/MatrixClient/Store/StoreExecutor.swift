import Dispatch

/// An executor with its own dispatch queue, so that waiting for the disk does not block the threads of tasks.
final class StoreExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "martlet.store")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
