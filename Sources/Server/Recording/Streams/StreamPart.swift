/// One file of a stream.
package struct StreamPart: Sendable, Equatable {
  /// From 1 on.
  package let number: Int
  /// Since the recording's beginning.
  package let startMilliseconds: Int64
  package let tracks: [WebMTrack]
  package var durationMilliseconds: Int64 = 0
  package var bytes: Int64 = 0
  package var audioFrames = 0
  package var videoFrames = 0
}
