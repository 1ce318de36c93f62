import JSON
import Messenger

/// A camera, a microphone or a loudspeaker of this machine.
public struct CallDevice: Equatable {
  public enum Kind: Sendable { case camera, microphone, loudspeaker }

  public let id: ByteString
  public let kind: Kind
  /// Empty until the page may use such a device.
  public let label: String
  /// Whether it is what is sent, or heard.
  public let isUsed: Bool

  public static func == (left: CallDevice, right: CallDevice) -> Bool {
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
  public static func list(_ json: JSON) -> [CallDevice]? {
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
