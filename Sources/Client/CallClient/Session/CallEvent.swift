public import CallCore
public import JSON

/// An event of a call. After `connect`, there are also events for the existing connections and streams.
public enum CallEvent: Sendable {
  case connected(CallConnection)
  /// The connection is interrupted. Requests wait until it returns. No signal is lost or repeated.
  case reconnecting
  case reconnected(CallConnection)
  case connectionCreated(CallConnection)
  /// The role of a connection has changed. It can be this participant's own connection.
  case connectionChanged(CallConnection)
  case connectionDestroyed(CallConnection)
  /// The streams of other participants.
  case streamCreated(CallStream)
  case streamChanged(CallStream)
  case streamDestroyed(CallStream)
  /// The video has stopped for now. `CallStream.videoDisabled` has the reason.
  case videoDisabled(CallStream)
  case videoEnabled(CallStream)
  /// A signal to all participants, including its sender, or to this participant.
  case signal(CallSignal)
  /// A publication of this participant has changed: whether it sends audio and video, and whether a moderator muted it.
  case publicationChanged(Publication)
  /// A publication of this participant has ended, for whatever reason.
  case publicationEnded(SourceID)
  /// The stream of the active speaker; nil if nobody speaks.
  case speaker(CallStream?)
  /// Whether new streams begin muted.
  case muteAll(Bool)
  /// The ID of the recording that has started; nil when it has ended.
  case recording(ByteString?)
  /// The last event: the call has ended.
  case closed(CallError)
}
