import JSON
import MediaRouter

/// What a publisher says of its stream.
package struct StreamDescription: Sendable, Equatable {
  package enum VideoType: String, CaseIterable, Sendable { case camera, screen, custom }

  package var name: ByteString
  package var hasAudio: Bool
  package var hasVideo: Bool
  package var videoType: VideoType
  package var width: Int64
  package var height: Int64

  init(_ json: JSON) throws(CallRefusal) {
    let change = try Change(json)
    name = change.name ?? ""
    hasAudio = change.hasAudio ?? true
    hasVideo = change.hasVideo ?? true
    width = change.width ?? 0
    height = change.height ?? 0
    let type = json["video_type"].map { $0.text ?? "" } ?? "camera"
    // By bytes: a raw value is compared by what it means, which of a long text may take minutes.
    guard let known = VideoType.allCases.first(where: { ByteString($0.rawValue) == type }) else {
      throw .invalid("video_type is camera, screen or custom.")
    }
    videoType = known
  }

  /// nil where it stays.
  struct Change {
    var name: ByteString?
    var hasAudio: Bool?
    var hasVideo: Bool?
    var width: Int64?
    var height: Int64?

    init(_ json: JSON) throws(CallRefusal) {
      if let value = json["name"], !value.isNull {
        guard let text = value.text else { throw .invalid("name is a text.") }
        guard text.string.unicodeScalars.count <= CallLimits.streamNameCharacters else {
          throw CallRefusal(.tooLarge, "name has at most \(CallLimits.streamNameCharacters) characters.")
        }
        name = text
      }
      hasAudio = try json.optionalBool("has_audio")
      hasVideo = try json.optionalBool("has_video")
      width = try json.optionalSide("width")
      height = try json.optionalSide("height")
    }
  }
}

/// A stream of a session.
package struct CallStream: Sendable {
  /// What the router has of it, for one kind.
  struct Track: Sendable, Equatable {
    let id: TrackID
    /// Of the publisher's format, which subscribers must decode.
    let parameters: String?
    let routed: TrackParameters
    /// Its publisher's worker first, then those that it is relayed to.
    var workers: [WorkerID]

    var codec: Codec { routed.codec }
    var layerCount: Int { routed.layers.count }
  }

  package let id: StreamID
  package let connection: ConnectionID
  /// Milliseconds since 1970.
  package let created: Int64
  package var description: StreamDescription
  package var layoutClasses: [ByteString]
  /// A moderator took its sound away, and its publisher has not given it back.
  var isMuted = false
  /// Others know of it: its media has arrived.
  var isAnnounced = false
  var audio: Track?
  var video: Track?

  var tracks: [Track] { [audio, video].compactMap { $0 } }

  func track(isAudio: Bool) -> Track? { isAudio ? audio : video }

  /// Whether there is something to hear or see, by its publisher's word.
  func has(_ codec: Codec) -> Bool { codec.isVideo ? description.hasVideo : description.hasAudio }

  mutating func keep(_ track: Track) {
    if track.codec.isVideo { video = track } else { audio = track }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", id)
      writer.member("connection", connection)
      writer.member("name", description.name)
      writer.member("has_audio", description.hasAudio)
      writer.member("has_video", description.hasVideo)
      writer.member("video_type", description.videoType.rawValue)
      if let video { writer.member("video_codec", video.codec.name) }
      writer.member("width", description.width)
      writer.member("height", description.height)
      writer.member("muted", isMuted)
      writer.member("created", created)
    }
  }
}
