import Glibc

/// How long this thread's processor is at work: other programs on the machine do not count.
package func processorTime(of work: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
  let before = now()
  try work()
  return now() - before
}
