#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import Synchronization

/// Calls a function at regular intervals on its own thread, for sources that generate their frames.
///
///     let metronome = Metronome()
///     metronome.start(every: .milliseconds(40)) { number, microseconds in output.send(frame(number, microseconds)) }
///
/// A late beat does not delay the next ones. Beats that are more than ten intervals late are skipped.
public final class Metronome: Sendable {
  private let run = Mutex(0)

  public init() {}

  deinit { stop() }

  /// Starts the beats, and ends those of an earlier start.
  /// - Parameters:
  ///   - interval: the interval, more than zero.
  ///   - beat: receives the number of the beat, from 0, and the time at which it was due, in microseconds of `CLOCK_MONOTONIC`.
  public func start(every interval: Duration, _ beat: @escaping @Sendable (_ number: Int64, _ microseconds: Int64) -> Void) {
    let number = run.withLock { run in
      run += 1
      return run
    }
    let microseconds = max(1, interval.components.seconds * 1_000_000 + interval.components.attoseconds / 1_000_000_000_000)
    DetachedThread.start { [weak self] in
      var (count, due) = (Int64(0), MonotonicTime.microseconds)
      while self?.run.withLock({ $0 == number }) ?? false {
        beat(count, due)
        let now = MonotonicTime.microseconds
        let missed = max(0, (now - due) / microseconds - 10)
        count += 1 + missed
        due += (1 + missed) * microseconds
        if due > now { usleep(UInt32(clamping: due - now)) }
      }
    }
  }

  /// Stops the beats. At most one beat that is under way still completes.
  public func stop() { run.withLock { $0 += 1 } }
}

/// A thread that nobody waits for.
enum DetachedThread {
  static func start(_ work: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Work(work)).toOpaque()
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().work()
        return nil
      }, context)
    precondition(error == 0, "no thread")
    pthread_detach(thread)
  }

  private final class Work: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  }
}
