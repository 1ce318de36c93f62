import JSON

/// What a connection may do; each may also what the ones before may, but for `publisherOnly`, which does not subscribe.
public enum CallRole: Sendable, Equatable {
  case subscriber
  case publisher
  case publisherOnly
  case moderator

  init(_ json: JSON?) {
    guard let json else {
      self = .subscriber
      return
    }
    self =
      json.isString("moderator")
      ? .moderator : json.isString("publisher") ? .publisher : json.isString("publisheronly") ? .publisherOnly : .subscriber
  }
}

/// One participant.
public struct CallConnection: Sendable, Equatable {
  public let id: ByteString
  /// What the application's server wrote into the token.
  public let data: ByteString
  public internal(set) var role: CallRole
  /// Milliseconds since 1970.
  public let created: Int64

  init?(_ json: JSON?) {
    guard let json, let id = json.text("id"), !id.isEmpty, id.count <= CallLimits.signalKindBytes else { return nil }
    self.id = id
    let data = json.text("data") ?? ""
    self.data = data.count <= CallLimits.connectionDataBytes ? data : ""
    role = CallRole(json["role"])
    created = json.integer("created") ?? 0
  }
}

/// What a connection publishes.
public struct CallStream: Sendable, Equatable {
  public let id: ByteString
  public let connection: ByteString
  public internal(set) var name: ByteString = ""
  public internal(set) var hasAudio = false
  public internal(set) var hasVideo = false
  public internal(set) var videoType: ByteString = ""
  /// Empty where the server does not say.
  public internal(set) var videoCodec: ByteString = ""
  public internal(set) var width: Int64 = 0
  public internal(set) var height: Int64 = 0
  /// By a moderator.
  public internal(set) var isMuted = false
  public internal(set) var created: Int64 = 0
  /// Whether it is to arrive here.
  public internal(set) var isSubscribed = false
  public internal(set) var preference = StreamPreference()
  /// Why no picture comes now: `quality`, `publisher` or `subscriber`.
  public internal(set) var videoDisabled: ByteString?

  init?(_ json: JSON?) {
    guard let json, let id = json.text("id"), !id.isEmpty, id.count <= CallLimits.signalKindBytes,
      let connection = json.text("connection")
    else { return nil }
    self.id = id
    self.connection = connection
    change(json)
  }

  /// Takes over the members that are there.
  mutating func change(_ json: JSON) {
    if let text = json.text("name"), text.count <= CallLimits.nameBytes { name = text }
    if let text = json.text("video_type"), text.count <= CallLimits.signalKindBytes { videoType = text }
    if let text = json.text("video_codec"), text.count <= CallLimits.codecBytes { videoCodec = text }
    hasAudio = json.bool("has_audio") ?? hasAudio
    hasVideo = json.bool("has_video") ?? hasVideo
    isMuted = json.bool("muted") ?? isMuted
    width = json.integer("width") ?? width
    height = json.integer("height") ?? height
    created = json.integer("created") ?? created
  }
}

/// What is published here.
public struct Publication: Sendable {
  public enum State: Sendable, Equatable {
    case capturing
    /// Captured, but the server does not know of it: not yet, or not again.
    case waiting
    case publishing(request: Int64)
    case live(stream: ByteString)
  }

  public let source: SourceID
  public let kind: CaptureKind
  public let name: ByteString
  public internal(set) var state = State.capturing
  /// Whether sound and picture are sent.
  public internal(set) var hasAudio: Bool
  public internal(set) var hasVideo: Bool
  /// By a moderator; ends with the next `update` that has sound.
  public internal(set) var isMutedByForce = false
  var media: CapturedMedia?
  /// The server has no room for it before.
  var retryAt: Int64?
  let command: CommandID

  public var stream: ByteString? {
    if case .live(let stream) = state { return stream }
    return nil
  }

  var videoType: ByteString {
    switch kind {
    case .screen: "screen"
    case .custom: "custom"
    case .camera, .microphone: "camera"
    }
  }
}
