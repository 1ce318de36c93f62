import CUV

/// One libuv loop, run by hand on the program's only thread.
final class Loop {
  let handle = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
  /// What every connection reads into; its bytes are consumed before the next read.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
  private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)

  init() {
    uv_loop_init(handle)
    uv_timer_init(handle, timer)
  }

  /// Handles what happens until the moment (monotonic seconds) is reached or the condition ceases to hold.
  func run(until moment: Double, while condition: () -> Bool = { true }) {
    while condition() {
      let left = moment - monotonicSeconds()
      if left <= 0 {
        uv_run(handle, UV_RUN_NOWAIT)
        return
      }
      uv_update_time(handle)
      uv_timer_start(timer, { _ in }, UInt64((min(left, 3600) * 1000).rounded(.up)), 0)
      uv_run(handle, UV_RUN_ONCE)
    }
    uv_timer_stop(timer)
  }
}
