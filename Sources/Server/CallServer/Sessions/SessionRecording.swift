import JSON
import MediaRouter

/// What somebody wants of a session's recording.
package struct RecordingRequest: Sendable, Equatable {
  package let starts: Bool
  /// Who asked, on its socket; nil for the session itself.
  package var number: Int64?
  package var connection: ConnectionID?
}

/// The recording of a session, while it lasts.
struct SessionRecording: Sendable {
  struct Kinds: Sendable, Equatable {
    var audio = true
    var video = true
  }

  struct Recorder: Sendable {
    let subscription: SubscriptionID
    /// The publisher's.
    let worker: WorkerID
  }

  let id: RecordingID
  let options: RecordingOptions
  /// Monotonic milliseconds.
  let deadline: Int64
  /// In manual mode: which streams.
  var chosen: [StreamID: Kinds] = [:]
  /// The recorder of each track.
  var recorders: [TrackID: Recorder] = [:]
  /// The recorder was told of so many changes of the composed picture.
  var changes = 0
  /// And that streams have these layout classes.
  var classes: [StreamID: [ByteString]] = [:]

  /// Which kinds of a stream are recorded.
  func kinds(of stream: StreamID) -> Kinds {
    guard !options.isManual else {
      let kinds = chosen[stream] ?? Kinds(audio: false, video: false)
      return Kinds(audio: kinds.audio && options.hasAudio, video: kinds.video && options.hasVideo)
    }
    return Kinds(audio: options.hasAudio, video: options.hasVideo)
  }
}
