import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

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
