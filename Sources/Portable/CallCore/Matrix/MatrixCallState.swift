import JSON
import MatrixModel

public enum MatrixCallState: Sendable, Equatable {
  /// Placed here; its invite is not sent yet.
  case preparing
  /// Its invite is sent.
  case calling
  /// Came in; it rings when the sync is through.
  case announced
  case ringing
  /// Answered.
  case connecting
  case connected
  case ended(MatrixCallEnd)
}

public enum MatrixCallEnd: Sendable, Equatable {
  case hungUp
  /// By the other side; `reason` as it is in the event.
  case hungUpByOther(reason: ByteString)
  case rejected
  case rejectedElsewhere
  case answeredElsewhere
  /// Nobody answered in time.
  case unanswered
  /// It never came to one.
  case connectionFailed
  /// It was interrupted, and did not come back in time.
  case connectionLost
  /// Camera and microphone cannot be had, or the host can do nothing with what it got.
  case mediaFailed
  /// Two called each other: the other call goes on.
  case replaced
  /// They have left the room.
  case left
  case sendFailed
}

public enum StreamPurpose: Sendable, Equatable { case userMedia, screenShare }

/// A stream of the other side.
public struct RemoteMedia: Sendable, Equatable {
  public let stream: ByteString
  public let purpose: StreamPurpose
  public var isAudioMuted = false
  public var isVideoMuted = false

  /// What `sdp_stream_metadata` lists, but for purposes unknown here.
  static func list(_ json: JSON) -> [RemoteMedia] {
    var streams: [RemoteMedia] = []
    for member in json.members.prefix(CallLimits.mediaStreams) {
      guard let purpose = member.value["purpose"] else { continue }
      let isScreen = purpose.isString("m.screenshare")
      guard isScreen || purpose.isString("m.usermedia") else { continue }
      streams.append(
        RemoteMedia(
          stream: member.key, purpose: isScreen ? .screenShare : .userMedia,
          isAudioMuted: member.value.bool("audio_muted") ?? false,
          isVideoMuted: member.value.bool("video_muted") ?? false))
    }
    return streams
  }
}

/// What is captured here for a call.
public struct LocalMedia: Sendable {
  public let source: SourceID
  public let purpose: StreamPurpose
  public internal(set) var isAudioMuted = false
  public internal(set) var isVideoMuted = false
  /// The camera is being opened in a call that began without.
  public internal(set) var isCameraOpening = false
  var media: CapturedMedia?

  /// Whether a camera or a screen was found.
  public var hasPicture: Bool { media?.hasVideo ?? false }

  func write(to writer: inout JSONWriter) {
    guard let media else { return }
    writer.key(media.stream)
    writer.object { writer in
      writer.member("purpose", purpose == .screenShare ? "m.screenshare" as ByteString : "m.usermedia")
      writer.member("audio_muted", isAudioMuted || !media.hasAudio)
      writer.member("video_muted", isVideoMuted || !media.hasVideo)
    }
  }
}
