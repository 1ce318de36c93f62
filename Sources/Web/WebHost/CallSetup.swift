import JSON

/// With what a call begins, as the page tells the program of calls.
public struct CallSetup: Sendable, Equatable {
  public var hasCamera: Bool
  public var isMuted: Bool

  public init(hasCamera: Bool, isMuted: Bool = false) {
    self.hasCamera = hasCamera
    self.isMuted = isMuted
  }

  public init(_ json: JSON) {
    hasCamera = json.bool("camera") ?? false
    isMuted = json.bool("muted") ?? false
  }

  public func write(to writer: inout JSONWriter) {
    writer.member("camera", hasCamera)
    writer.member("muted", isMuted)
  }
}
