import Messenger

/// A line to the other tabs of the same origin.
public final class TabChannel {
  private let handle: JSHandle
  init(handle: JSHandle) { self.handle = handle }
  /// Sends to every other open tab, not to this one.
  public func post(_ bytes: [UInt8]) { hostChannelPost(handle.id, bytes) }
}

extension Host {
  /// Opens a channel (BroadcastChannel); messages come until the last reference is gone.
  public static func openTabChannel(named name: String, _ onMessage: @escaping ([UInt8]) -> Void) -> TabChannel {
    let id = register { onMessage($0.array) }
    hostChannelOpen(id, name)
    return TabChannel(handle: JSHandle(id: id))
  }

  /// Waits until no other tab holds the lock (Web Locks), then calls `onAcquired` once; it is held until the last
  /// reference to the handle is gone or the tab closes. Where the browser has no locks, it is granted at once.
  public static func acquireLock(named name: String, _ onAcquired: @escaping () -> Void) -> JSHandle {
    let id = register { _ in onAcquired() }
    hostLock(id, name)
    return JSHandle(id: id)
  }
}
