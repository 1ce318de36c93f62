import JSON

/// What an event may be at most. Spec: Client-Server API, "Size limits"; Server-Server API, "PDUs".
package enum EventLimits {
  /// Canonical bytes of the whole federation event.
  package static let bytes = 65_536
  /// Bytes of `type` and of `state_key`.
  package static let typeBytes = 255
  package static let stateKeyBytes = 255
  package static let prevEvents = 20
  package static let authEvents = 10
  /// `depth` is 0 to this.
  package static let depth = Int64(JSON.integerMagnitudeLimit)
}
