import JSON

/// What a push rule does: its list of actions, and what the server needs of it.
///
/// Spec: Client-Server API, "Actions".
public struct PushActions: Sendable, Equatable {
  /// The list as JSON; `dont_notify` and `coalesce`, which earlier versions had, are left out.
  public let json: [UInt8]
  public let notifies: Bool
  public let highlights: Bool
  /// The sound to play; nil for none.
  public let sound: ByteString?

  /// nil where it is no list of texts and of objects with `set_tweak`.
  public init?(_ json: JSON) {
    guard json.isArray else { return nil }
    var writer = JSONWriter(capacity: json.bytes.count)
    var (notifies, highlights) = (false, false)
    var sound: ByteString?
    writer.beginArray()
    for action in json.elements {
      if action.isString {
        if action.isString("dont_notify") || action.isString("coalesce") { continue }
        if action.isString("notify") { notifies = true }
      } else {
        guard action.isObject, let tweak = action["set_tweak"], tweak.isString else { return nil }
        let value = action["value"]
        if tweak.isString("highlight") { highlights = value?.bool ?? (value == nil) }
        if tweak.isString("sound") { sound = value?.text }
      }
      writer.write(action)
    }
    writer.endArray()
    self.json = writer.bytes
    self.notifies = notifies
    self.highlights = notifies && highlights
    self.sound = notifies ? sound : nil
  }

  /// No action: the event is passed over in silence.
  public static let none = PushActions(json: Array("[]".utf8), notifies: false, highlights: false, sound: nil)

  /// Told without a sound.
  public static let notifying = PushActions(json: Array(#"["notify"]"#.utf8), notifies: true, highlights: false, sound: nil)

  private init(json: [UInt8], notifies: Bool, highlights: Bool, sound: ByteString?) {
    self.json = json
    self.notifies = notifies
    self.highlights = highlights
    self.sound = sound
  }
}
