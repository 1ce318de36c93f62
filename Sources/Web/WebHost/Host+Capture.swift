import Messenger

extension Host {
  public enum Position {
    /// A geo URI with latitude, longitude and uncertainty. RFC 5870.
    case found(String)
    /// The person or the browser does not let the page know.
    case refused
    case unknown
  }

  /// Where the device is; asks the person where that is not decided yet.
  public static func locate(_ then: @escaping (Position) -> Void) {
    let id = registerOnce { event in
      switch event.code {
      case 0: then(.found(String(decoding: event.bytes, as: UTF8.self)))
      case 1: then(.refused)
      default: then(.unknown)
      }
    }
    hostLocate(id)
  }
}

/// Sound that is recorded, or a picture of what a camera sees; it is given up when the last reference to it is gone.
public final class Recorder {
  public enum Event {
    /// How loud it is, 0...1, about ten times a second. Of a camera, once: it sees something.
    case level(Double, milliseconds: Int64)
    case done(PickedFile, milliseconds: Int64)
    /// The person or the browser does not let the page hear or see.
    case refused
    /// There is no microphone or camera, or no way to record.
    case failed

    public var isRefused: Bool {
      if case .refused = self { return true }
      return false
    }
  }

  private let handle: JSHandle

  /// Begins; asks the person where that is not decided yet.
  /// - Parameter view: shows what the camera sees; without it sound is recorded.
  public init(of view: Node = .none, _ onEvent: @escaping (Event) -> Void) {
    let id = register { event in
      switch event.code {
      case 0: onEvent(.level(event.x, milliseconds: Int64(event.y)))
      case 1: if let file = Host.pickedFiles(event.bytes).first { onEvent(.done(file, milliseconds: Int64(event.x))) }
      case 2: onEvent(.refused)
      default: onEvent(.failed)
      }
    }
    handle = JSHandle(id: id)
    if view == .none { hostRecord(id) } else { hostWatch(id, view.id) }
  }

  /// Ends it; `done` follows. The view of a camera stands still then, until this is called again.
  public func finish() { hostRecordFinish(handle.id) }
}
