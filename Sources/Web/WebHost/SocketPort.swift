/// A WebSocket of the browser; it is closed when the last reference to it is gone. `Web/calls.js` has the other end.
public final class SocketPort {
  public enum Event {
    case opened
    /// One text message.
    case text([UInt8])
    /// It is gone, could not be opened, or said what is no text.
    case closed
  }

  private let handle: JSHandle

  public init(_ url: String, _ onEvent: @escaping (Event) -> Void) {
    let id = register { event in
      switch event.code {
      case 1: onEvent(.opened)
      case 2: onEvent(.text(event.array))
      default: onEvent(.closed)
      }
    }
    handle = JSHandle(id: id)
    hostSocketOpen(id, url)
  }

  public func send(_ text: [UInt8]) { hostSocketSend(handle.id, text) }
}
