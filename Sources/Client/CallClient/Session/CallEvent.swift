public import CallCore
public import JSON

/// What happens in a call. Who and what is there already when one comes in is told as well.
public enum CallEvent: Sendable {
  case connected(CallConnection)
  /// The line is cut. What is asked meanwhile is done later; no signal is lost or repeated.
  case reconnecting
  case reconnected(CallConnection)
  case connectionCreated(CallConnection)
  /// It has another role; also one's own.
  case connectionChanged(CallConnection)
  case connectionDestroyed(CallConnection)
  /// Of others.
  case streamCreated(CallStream)
  case streamChanged(CallStream)
  case streamDestroyed(CallStream)
  /// No picture comes for now; `CallStream.videoDisabled` says why.
  case videoDisabled(CallStream)
  case videoEnabled(CallStream)
  /// To all, also to its sender, or to this one.
  case signal(CallSignal)
  /// What is published here has changed: whether it sends sound and picture, and whether a moderator muted it.
  case publicationChanged(Publication)
  /// Nothing is published under this source any more, by whomever.
  case publicationEnded(SourceID)
  /// The stream of who speaks; nil for nobody.
  case speaker(CallStream?)
  /// Whether streams that begin do so muted.
  case muteAll(Bool)
  /// The ID of the recording that goes on from now on; nil when it has ended.
  case recording(ByteString?)
  /// The last one: the call is over.
  case closed(CallError)
}
