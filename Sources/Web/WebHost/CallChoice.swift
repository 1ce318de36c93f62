/// What a person chose for a call. The browser keeps it for the next one.
public struct CallChoice: Sendable {
  /// IDs of devices; empty for the browser's own choice.
  public var camera = ""
  public var microphone = ""
  public var loudspeaker = ""
  /// Whether both were on when the last call of a room was joined.
  public var isCameraOn = true
  public var isMicrophoneOn = true

  public static var kept: CallChoice {
    var choice = CallChoice()
    choice.camera = Host.setting("call-camera") ?? ""
    choice.microphone = Host.setting("call-microphone") ?? ""
    choice.loudspeaker = Host.setting("call-loudspeaker") ?? ""
    choice.isCameraOn = Host.setting("call-camera-off") == nil
    choice.isMicrophoneOn = Host.setting("call-microphone-off") == nil
    return choice
  }

  public func keep() {
    Host.setSetting("call-camera", camera.utf8.isEmpty ? nil : camera)
    Host.setSetting("call-microphone", microphone.utf8.isEmpty ? nil : microphone)
    Host.setSetting("call-loudspeaker", loudspeaker.utf8.isEmpty ? nil : loudspeaker)
    Host.setSetting("call-camera-off", isCameraOn ? nil : "1")
    Host.setSetting("call-microphone-off", isMicrophoneOn ? nil : "1")
  }

  public mutating func use(_ id: String, _ kind: CallDevice.Kind) {
    switch kind {
    case .camera: camera = id
    case .microphone: microphone = id
    case .loudspeaker: loudspeaker = id
    }
  }

  /// The chosen device of that kind; empty for the browser's own choice.
  public subscript(kind: CallDevice.Kind) -> String {
    switch kind {
    case .camera: camera
    case .microphone: microphone
    case .loudspeaker: loudspeaker
    }
  }
}
