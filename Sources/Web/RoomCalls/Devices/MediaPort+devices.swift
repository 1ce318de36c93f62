import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// A phone's camera is turned to the front or the back. At a desk cameras are chosen by name.
func offersTurning(_ devices: [CallDevice]) -> Bool {
  Host.pageState.contains(.narrow) && devices.filter { $0.kind == .camera }.count > 1
}

extension MediaPort {
  /// The browser tells then which there are: `CallDevice.list`.
  func listDevices() { post(Array(#"{"do":"listDevices"}"#.utf8)) }

  /// What is opened from now on is of these devices, as far as they are there.
  func prefer(_ choice: CallChoice) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", "prefer" as ByteString)
      writer.member("camera", choice.camera)
      writer.member("microphone", choice.microphone)
      writer.member("speaker", choice.loudspeaker)
    }
    post(writer.bytes)
  }

  /// From now on this one: a camera or a microphone for that source, a loudspeaker for all that is heard. Which are used is told again.
  /// It is kept for the next call.
  func use(_ device: CallDevice, for source: SourceID) {
    var choice = CallChoice.kept
    choice.use(device.id.string, device.kind)
    choice.keep()
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", device.kind == .loudspeaker ? "hearBy" : "swap" as ByteString)
      writer.member("source", Int64(source))
      writer.member("kind", device.kind == .camera ? "video" as ByteString : "audio")
      writer.member("device", device.id)
    }
    post(writer.bytes)
  }

  /// From now on the camera of that source that looks the other way, or the next one if the browser does not say which way they look.
  func turnCamera(of source: SourceID) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", "turn" as ByteString)
      writer.member("source", Int64(source))
    }
    post(writer.bytes)
  }

  /// Shows a stream in a window of the browser's own, above all others; an empty name closes it. A button must have been pressed just now.
  func float(_ stream: String) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", "float" as ByteString)
      writer.member("stream", stream)
    }
    post(writer.bytes)
  }
}
