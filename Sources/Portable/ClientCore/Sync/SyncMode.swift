/// How the client asks for what is new.
public enum SyncMode: UInt8, Sendable {
  /// As the syncs in the store were made; where there are none, sliding sync if the server offers it (`/versions`), v3 otherwise, also
  /// when it takes the offer back, and as long as presence is wanted, which sliding sync does not bring.
  case automatic
  /// `GET /sync`: everything of all rooms in the first answer. Spec: Client-Server API, "Syncing".
  case v3
  /// The rooms on top first, then the others. Spec: MSC4186.
  case sliding
}

/// How far the first sync of an account is. It never goes back.
public struct SyncProgress: Sendable, Equatable {
  /// Rooms that have been told.
  public private(set) var knownRooms = 0
  /// Rooms that there are; 0 until the server has said.
  public private(set) var totalRooms = 0
  /// 0 to 1.
  public private(set) var fraction = 0.0

  mutating func advance(to known: Int, of total: Int) {
    totalRooms = max(totalRooms, total)
    knownRooms = max(knownRooms, min(known, total))
    fraction = max(fraction, totalRooms == 0 ? 1 : Double(knownRooms) / Double(totalRooms))
  }
}
