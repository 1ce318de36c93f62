/// Something the host does once: a request, a timer. Letting go of the value does not stop it; `cancel` does.
public struct HostTask: Sendable {
  let id: Int32

  /// Stops it; its closure is never called again. Harmless when it is over.
  public func cancel() {
    callbacks.remove(id)
    hostRelease(id)
  }
}

/// An object of the host that lives as long as this one: a channel, a lock, a store.
public final class JSHandle {
  let id: Int32
  init(id: Int32) { self.id = id }

  deinit {
    callbacks.remove(id)
    hostRelease(id)
  }
}
