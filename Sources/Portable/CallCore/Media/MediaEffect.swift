import JSON

/// What the host of calls is to do with cameras, tracks and peer connections, in order. The same for sessions and for Matrix' calls, so
/// that one host serves both: a browser's WebRTC, GStreamer.
public enum MediaEffect: Sendable {
  /// Open camera and microphone, the screen, or the microphone alone. What an open source lacks is added to its stream. Answer with `MediaInput.captured` or `captureFailed`.
  case capture(SourceID, CaptureKind, audio: Bool, video: Bool)
  /// Close them: nothing uses the source any more.
  case release(SourceID)
  /// Whether the track of that kind sends what it captures, or silence and black.
  case enable(SourceID, TrackKind, Bool)

  /// Make a peer connection, everything bundled in one transport.
  case open(PeerID, [ICEServer])
  case close(PeerID)
  /// A new section that sends a track of the source; with `receives`, one that the other side offered for the same kind is taken first
  /// (WebRTC's `addTrack`).
  case send(PeerID, SectionID, SourceID, TrackKind, receives: Bool)
  /// A new section that only receives, in that codec (`opus`, `VP8`, … without regard to case; empty for any). Nothing else need be offered: a
  /// browser says of all its codecs in each section, and a session of many would make an offer of 300 KB.
  case receive(PeerID, SectionID, TrackKind, codec: ByteString)
  case stop(PeerID, SectionID)
  /// Whether all sections are inactive, or back to what they were.
  case hold(PeerID, Bool)
  /// Make a description and set it as the local one; wait for candidates until they are complete, but not longer than that. An offer
  /// takes the place of an own one that has no answer; an answer is for the offer of `setRemote`. Answer with `described` or `failed`, of
  /// the same round.
  case describe(PeerID, round: UInt32, DescriptionKind, restartsICE: Bool, gatherMilliseconds: Int64)
  /// Set it as the remote description; an offer takes an own offer back that has no answer yet. Answer with `remoteSet` or `failed`, of
  /// the same round.
  case setRemote(PeerID, round: UInt32, DescriptionKind, sdp: ByteString)
  case addCandidate(PeerID, ICECandidate)
  /// The track that arrived in this section belongs to this stream from now on.
  case attach(PeerID, mid: ByteString, stream: ByteString)
  /// Nothing of this stream is shown or heard any more.
  case detach(PeerID, stream: ByteString)
}

/// What the host tells of them.
public enum MediaInput: Sendable {
  /// What there is: the tracks, the size of the picture, and the ID of the stream by which descriptions name it (`msid`).
  case captured(SourceID, CapturedMedia)
  case captureFailed(SourceID)
  /// The person stopped sharing the screen, or the device is gone.
  case captureEnded(SourceID)
  /// The description that was asked for, with the MID of each section of ours.
  case described(PeerID, round: UInt32, sdp: ByteString, [SectionMID])
  case remoteSet(PeerID, round: UInt32)
  /// The description could not be made or set.
  case failed(PeerID, round: UInt32)
  /// Found after `described`; nil when there will be no more.
  case candidate(PeerID, ICECandidate?)
  case ice(PeerID, ICEState)
  /// A track of the other side; `stream` is the one its description names (`msid`), empty without one.
  case trackArrived(PeerID, mid: ByteString, stream: ByteString, TrackKind)
}

public typealias SourceID = UInt32
public typealias PeerID = UInt32
public typealias SectionID = UInt32
