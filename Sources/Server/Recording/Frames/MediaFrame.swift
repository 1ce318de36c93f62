import MediaRouter

/// A whole frame: a packet of Opus, a picture of VP8 or VP9, an access unit of H.264 (units after their lengths of four bytes).
package struct MediaFrame: Sendable, Equatable {
  package var timestamp: UInt32
  package var isKey: Bool
  package var bytes: [UInt8]
  /// Of its last packet.
  package var arrival: MediaTime
  /// Of key frames of video: what a file says of a track that begins with it.
  package var track: WebMTrack?

  package init(timestamp: UInt32, isKey: Bool, bytes: [UInt8], arrival: MediaTime, track: WebMTrack? = nil) {
    self.timestamp = timestamp
    self.isKey = isKey
    self.bytes = bytes
    self.arrival = arrival
    self.track = track
  }
}
