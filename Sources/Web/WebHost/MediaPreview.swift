import JSON
import Messenger

/// Whether the person and the browser let the page use a camera or a microphone.
public enum CapturePermission: Int32, Sendable {
  /// The browser asks the user when a device is opened.
  case undecided = 0
  case granted = 1
  case refused = 2
}

/// Devices that sound or a picture comes from.
public struct CaptureKinds: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let microphone = CaptureKinds(rawValue: 1)
  public static let camera = CaptureKinds(rawValue: 2)
}

extension Host {
  /// Tells the least of what the page has for these.
  public static func learnPermission(for kinds: CaptureKinds, _ then: @escaping (CapturePermission) -> Void) {
    hostCapturePermission(registerOnce { then(CapturePermission(rawValue: $0.code) ?? .undecided) }, kinds.rawValue)
  }
}

/// Camera and microphone before a call: what is seen and heard stays on this machine. They are closed when the last reference to it is gone.
/// `Web/call-preview.js` has the other end.
public final class MediaPreview {
  public enum Event {
    /// At first, and whenever it changes.
    case permission(microphone: CapturePermission, camera: CapturePermission)
    /// What became of both, after `open`.
    case opened(microphone: Outcome, camera: Outcome)
    /// How loud the microphone is, 0...1, about ten times a second.
    case level(Double)
    case devices([CallDevice])
  }

  public enum Outcome: Int32, Sendable {
    /// It was not asked for.
    case off = 0
    case on = 1
    case refused = 2
    /// There is no such device, or another program uses it.
    case missing = 3
  }

  private let handle: JSHandle

  /// - Parameter view: a video element; it shows what the camera sees.
  public init(in view: Node, _ onEvent: @escaping (Event) -> Void) {
    let id = register { if let event = MediaPreview.event($0) { onEvent(event) } }
    handle = JSHandle(id: id)
    hostPreviewOpen(id, view.id)
  }

  /// Opens these and closes what else is open; the browser may ask the person first.
  public func open(_ kinds: CaptureKinds, _ choice: CallChoice) {
    hostPreviewUse(handle.id, kinds.rawValue, choice.camera, choice.microphone)
  }

  static func event(_ event: HostEvent) -> Event? {
    let (x, y) = (Int32(exactly: event.x) ?? -1, Int32(exactly: event.y) ?? -1)
    switch event.code {
    case 0:
      guard let microphone = CapturePermission(rawValue: x), let camera = CapturePermission(rawValue: y) else { return nil }
      return .permission(microphone: microphone, camera: camera)
    case 1:
      guard let microphone = Outcome(rawValue: x), let camera = Outcome(rawValue: y) else { return nil }
      return .opened(microphone: microphone, camera: camera)
    case 2: return .level(event.x)
    case 3: return (try? JSON.parse(event.array)).flatMap { CallDevice.list($0) }.map { .devices($0) }
    default: return nil
    }
  }
}
