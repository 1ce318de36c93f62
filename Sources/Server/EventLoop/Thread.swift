import CLinux
import Glibc

private final class ThreadBody {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Starts a detached thread with every signal blocked, so that signals reach the thread that waits for them.
///
/// - Parameter name: at most 15 bytes, what the system shows.
/// - Returns: false when the system refuses another thread.
package func spawnThread(name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var all = sigset_t()
  var before = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

  var thread = pthread_t()
  let box = Unmanaged.passRetained(ThreadBody(body))
  let result = pthread_create(
    &thread, &attributes,
    { context in
      Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  guard result == 0 else {
    box.release()
    return false
  }
  clinux_name_thread(thread, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
  return true
}
