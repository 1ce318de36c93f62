import CallCore
import JSON
import Messenger
import WebHost

/// A camera, a microphone or a loudspeaker of this machine.
struct CallDevice: Equatable {
  enum Kind { case camera, microphone, loudspeaker }

  let id: ByteString
  let kind: Kind
  let label: String
  /// Whether the call sends from it or plays through it.
  let isUsed: Bool

  static func == (left: CallDevice, right: CallDevice) -> Bool {
    left.id == right.id && left.kind == right.kind && left.isUsed == right.isUsed && left.label.hasSameBytes(as: right.label)
  }

  /// Returns nil if the JSON is not a device of a known kind.
  init?(_ json: JSON) {
    guard let id = json.text("id"), let kind = Kind(json["kind"]) else { return nil }
    self.id = id
    self.kind = kind
    label = json["label"]?.string ?? ""
    isUsed = json.bool("used") ?? false
  }

  /// Those that the browser's media tell of; nil where they tell of something else.
  static func list(_ json: JSON) -> [CallDevice]? {
    json["devices"]?.elements.compactMap { CallDevice($0) }
  }
}

extension CallDevice.Kind {
  init?(_ json: JSON?) {
    guard let json else { return nil }
    if json.isString("camera") {
      self = .camera
    } else if json.isString("microphone") {
      self = .microphone
    } else if json.isString("speaker") {
      self = .loudspeaker
    } else {
      return nil
    }
  }
}

extension MediaPort {
  /// The browser tells then which there are: `CallDevice.list`.
  func listDevices() { post(Array(#"{"do":"listDevices"}"#.utf8)) }

  /// From now on this one: a camera or a microphone for that source, a loudspeaker for all that is heard. Which are used is told again.
  func use(_ device: CallDevice, for source: SourceID) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", device.kind == .loudspeaker ? "hearBy" : "swap" as ByteString)
      writer.member("source", Int64(source))
      writer.member("kind", device.kind == .camera ? "video" as ByteString : "audio")
      writer.member("device", device.id)
    }
    post(writer.bytes)
  }
}
