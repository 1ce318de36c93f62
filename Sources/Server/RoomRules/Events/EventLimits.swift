import JSON

/// What an event may be at most. Spec: Client-Server API, "Size limits"; Server-Server API, "PDUs".
package enum EventLimits {
  /// Canonical bytes of the whole federation event.
  package static let bytes = 65_536
  /// Bytes of `type` and of `state_key`.
  package static let typeBytes = 255
  package static let stateKeyBytes = 255
  /// Bytes of `sender`, which is a user ID.
  static let senderBytes = 255
  /// Unicode scalars of `type`, `state_key` and `sender`. Other servers once counted these, so before room version 11 an event
  /// with more bytes is not malformed, only rejected: other events may name it.
  package static let fieldCharacters = 255
  package static let prevEvents = 20
  package static let authEvents = 10
  /// `depth` is 0 to this.
  package static let depth = Int64(JSON.integerMagnitudeLimit)
}
