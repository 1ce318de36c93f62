import JSON
import MediaRouter

/// What a session tells the recording thread, in the order in which it happens there.
package enum RecordingCommand: Sendable {
  case begin(RecordingID, of: ProjectID)
  /// A track of a stream will come under this name.
  case add(RecordingID, RecordedStream, SubscriptionID, Codec)
  case remove(SubscriptionID)
  /// The picture of all is another one from now on.
  case change(RecordingID, RecordingChange)
  /// Nothing comes of the stream any more; its files end.
  case endStream(RecordingID, StreamID)
  /// With the reason, where nobody asked for it.
  case finish(RecordingID, reason: ByteString)
}

/// What decides about the places in the composed picture.
package enum RecordingChange: Sendable, Equatable {
  case layout(RecordingLayout)
  /// Layout classes of a stream.
  case classes(StreamID, [ByteString])
}

/// Whose picture and sound a recorder gets.
package struct RecordedStream: Sendable, Equatable {
  let id: StreamID
  let connection: ConnectionID
  let connectionData: ByteString
  let name: ByteString
  let videoType: StreamDescription.VideoType
}

/// What has become of a recording.
package struct RecordingSummary: Sendable, Equatable {
  package let recording: RecordingID
  package let project: ProjectID
  package var durationMilliseconds: Int64
  package var bytes: Int64
  package var mainFile: ByteString
  package var filesCount: Int
  /// Why it ended; empty where somebody asked for it.
  package var reason: ByteString
}
