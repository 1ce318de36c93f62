import Messenger

/// Looks with the camera for the QR code of a verification, until it has found one or the last reference to it is gone.
public final class CodeReader {
  public enum Event {
    /// The bytes in it.
    case found([UInt8])
    /// There is a code, and the browser does not say what bytes it has.
    case unreadable
    /// The person or the browser does not let the page see.
    case refused
    /// There is no camera.
    case failed
  }

  /// Whether the browser finds codes.
  public static var isPossible: Bool { Host.pageState.contains(.canScan) }

  private let handle: JSHandle

  /// - Parameters:
  ///   - view: a video element that shows what the camera sees.
  ///   - onEvent: hears the end.
  public init(_ view: Node, _ onEvent: @escaping (Event) -> Void) {
    let id = register { event in
      switch event.code {
      case 0: onEvent(.found(event.array))
      case 1: onEvent(.unreadable)
      case 2: onEvent(.refused)
      default: onEvent(.failed)
      }
    }
    handle = JSHandle(id: id)
    hostScan(id, view.id)
  }
}
