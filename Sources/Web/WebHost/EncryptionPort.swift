/// The Worker of end-to-end encryption; it ends when the last reference to this is gone. `Web/encryption-worker.js` is the other end.
public final class EncryptionPort {
  private let handle: JSHandle

  /// - Parameters:
  ///   - onMessage: hears what it says, in order.
  ///   - onBuilding: hears that the server still builds its program, and that it does not any more.
  ///   - onEnd: it could not be loaded, or has stopped.
  public init(
    _ onMessage: @escaping ([UInt8]) -> Void, onBuilding: @escaping (Bool) -> Void, onEnd: @escaping () -> Void
  ) {
    let id = register { event in
      switch event.code {
      case 1: onMessage(event.array)
      case 2, 3: onBuilding(event.code == 2)
      default: onEnd()
      }
    }
    handle = JSHandle(id: id)
    hostEncryptionOpen(id)
  }

  /// What is sent before it is loaded waits for that.
  public func send(_ message: [UInt8]) { hostEncryptionSend(handle.id, message) }
}

/// Whether the browser keeps what the page stores also if it is short of space.
public enum StorageKeeping: Int32 {
  case mayBeDropped, isKept, unknown

  /// For reports.
  public var english: String {
    switch self {
    case .mayBeDropped: "the browser may drop it if space is short"
    case .isKept: "the browser keeps it"
    case .unknown: "the browser does not say whether it keeps it"
    }
  }
}

extension Host {
  /// - Parameter asks: whether the browser is asked to keep it if it does not yet. It may ask the person, but not twice within a month.
  public static func learnStorageKeeping(asks: Bool, _ then: @escaping (StorageKeeping) -> Void) {
    let id = registerOnce { then(StorageKeeping(rawValue: $0.code) ?? .unknown) }
    hostStorageKeep(id, asks ? 1 : 0)
  }
}
