import JSON
import Messenger

/// The services of the browser. Callbacks come later, never inside the call that asked.
public enum Host {
  /// Writes a line to the console. Never tokens or message bodies.
  public static func log(_ text: String) { hostLog(text) }

  /// Milliseconds of a clock that never goes back, from an arbitrary zero.
  public static func monotonicMilliseconds() -> Double { hostMonotonic() }

  /// Milliseconds since 1970, UTC, as the device believes.
  public static func wallClockMilliseconds() -> Int64 { Int64(hostWall()) }

  /// Cryptographically random bytes.
  public static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBufferPointer { hostRandom($0) }
    return bytes
  }

  /// 32 cryptographically random bytes, in base64: a key of a call.
  package static func randomKey() -> ByteString { ByteString(hostRandomKey() ?? "") }

  /// Calls `then` once, not before `milliseconds` have passed. Browsers slow timers down in hidden pages.
  @discardableResult
  public static func after(milliseconds: Double, _ then: @escaping () -> Void) -> HostTask {
    let id = registerOnce { _ in then() }
    hostTimer(id, max(0, milliseconds))
    return HostTask(id: id)
  }

  /// Calls `then` once `monotonicMilliseconds`, in whole milliseconds, has reached `time`. Browsers drop the fraction of a delay and may
  /// fire one millisecond early; a caller that then checks the time would find it not yet reached and wait for ever.
  public static func at(milliseconds time: Int64, _ then: @escaping () -> Void) -> HostTask {
    after(milliseconds: Double(time) - monotonicMilliseconds() + 1, then)
  }

  /// Calls `then` once, at the beginning of the next frame; after 100 ms where the page is hidden and has none.
  public static func atNextFrame(_ then: @escaping () -> Void) -> HostTask {
    let id = registerOnce { _ in then() }
    hostNextFrame(id)
    return HostTask(id: id)
  }

  /// Whether a part of the program has been loaded, or lies in no file of its own.
  public static func hasPart(_ name: String) -> Bool { withBytes(name) { hostPartIsMissing($0, $1) } == 0 }

  /// Loads a part of the program and calls `then` once it is there. Where that fails the page says so, and `then` is never called.
  public static func loadPart(_ name: String, _ then: @escaping () -> Void) {
    let id = registerOnce { _ in then() }
    withBytes(name) { hostPartLoad(id, $0, $1) }
  }

  /// Whether time passes: natively there are no timers and no frames.
  public static var hasFrames: Bool {
    #if arch(wasm32)
      true
    #else
      false
    #endif
  }
}
