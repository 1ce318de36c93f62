import JSON
import Olm

/// Records that are read before something can be done.
enum RecordNeed: Hashable, Sendable {
  /// What is in memory all the time.
  case all
  case sessions(Curve25519Key)
  case keys(RoomKeys.Name)
  /// One of 256 parts of all sessions of rooms: for the backup, and for an export.
  case part(UInt8), slice(UInt8)

  func prefixes(_ names: RecordNames) -> [ByteString] {
    switch self {
    case .all: RecordNames.inMemory
    case .sessions(let identity): [names.sessions(with: identity)]
    case .keys(let name): [names.keys(of: name)]
    case .part(let part), .slice(let part): [RecordNames.keys(ofPart: part)]
    }
  }
}
