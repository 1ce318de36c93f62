import JSON
import MatrixModel

/// An event cut in two, each part canonical members without braces: what clients see, and what only servers need.
///
/// A client's event is `{` client `,"event_id":…,"unsigned":…,"room_id":…}`; the room ID is in neither part, as the room
/// knows it. `unsigned` is not kept.
package struct EventFragments: Equatable, Sendable {
  /// `content`, `origin_server_ts`, `redacts`, `sender`, `state_key`, `type`.
  package let client: [UInt8]
  /// `auth_events`, `depth`, `hashes`, `prev_events`, `signatures` and every key the spec does not name.
  package let federation: [UInt8]

  package init(client: [UInt8], federation: [UInt8]) {
    self.client = client
    self.federation = federation
  }
}
