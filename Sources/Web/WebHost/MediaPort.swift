import JSON
import Messenger

/// Cameras, microphones and peer connections of the browser: what is to be done goes in as JSON objects and is done in order, what
/// happens comes back likewise. `Web/call-media.js` has the other end.
public final class MediaPort {
  /// Carries bytes to the browser; replaced in tests.
  public var post: ([UInt8]) -> Void
  private let handle: JSHandle

  public init(_ onEvent: @escaping (JSON) -> Void) {
    let id = register { if let event = try? JSON.parse($0.array) { onEvent(event) } }
    handle = JSHandle(id: id)
    hostMediaOpen(id)
    post = { hostMediaDo(id, $0) }
  }

  /// What a stream has to be seen and heard, in a video element that is on the page already. Empty takes it out.
  public func show(_ stream: String, in node: Node) { hostMediaShow(handle.id, node.id, stream) }
}
