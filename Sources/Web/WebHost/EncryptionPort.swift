/// The Worker of end-to-end encryption; it ends when the last reference to this is gone. `Web/encryption-worker.js` is the other end.
public final class EncryptionPort {
  private let handle: JSHandle

  /// - Parameters:
  ///   - onMessage: hears what it says, in order.
  ///   - onEnd: it could not be loaded, or has stopped.
  public init(_ onMessage: @escaping ([UInt8]) -> Void, onEnd: @escaping () -> Void) {
    let id = register { event in
      if event.code == 1 { onMessage(event.array) } else { onEnd() }
    }
    handle = JSHandle(id: id)
    hostEncryptionOpen(id)
  }

  /// What is sent before it is loaded waits for that.
  public func send(_ message: [UInt8]) { hostEncryptionSend(handle.id, message) }
}
