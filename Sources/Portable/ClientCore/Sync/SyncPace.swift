/// How often syncs may follow one another. Where much happens, each answer then brings several events, and a screen is drawn anew for all of
/// them together; a server that answers every sync at once does not keep the client and itself busy.
///
/// A few may follow at once, so that what comes now and then is never late.
struct SyncPace: Sendable {
  /// Milliseconds that are saved up.
  private var saved = Limits.syncPaceMilliseconds * Limits.syncBurst
  private var at: Int64 = 0

  /// Milliseconds until the next sync may go out; 0 where it does.
  mutating func next(now: Int64) -> Int64 {
    saved = min(Limits.syncPaceMilliseconds * Limits.syncBurst, saved + max(0, now - at))
    at = now
    if saved < Limits.syncPaceMilliseconds { return Limits.syncPaceMilliseconds - saved }
    saved -= Limits.syncPaceMilliseconds
    return 0
  }
}
