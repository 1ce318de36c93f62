import Dispatch

/// A thread's worth of waiting for the disk that is none of the threads tasks run on.
final class StoreExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "martlet.store")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
