import JSON
import MatrixModel
import Olm

/// Sessions of a backup, decrypted in slices. Their keys prove nothing: who has the backup's public key, as the server has, can write to it.
package struct BackupDownload: Sendable {
  /// What was asked for.
  package enum Part: Sendable {
    case all
    case room(RoomID)
    case session(RoomKeys.Name)
  }

  private let pair: Curve25519KeyPair
  private let sessions: [(name: RoomKeys.Name, data: JSON)]
  private var position = 0
  /// The keys of the next slice, if they are decrypted already.
  private var ahead: [RoomKey]?
  /// Sessions so far that could not be read.
  package private(set) var unreadable = 0

  /// - Parameters:
  ///   - answer: of `GET /room_keys/keys`, for one of its three paths.
  ///   - pair: `KeyBackup.pair`.
  package init(_ answer: JSON, of part: Part, with pair: Curve25519KeyPair) {
    self.pair = pair
    switch part {
    case .all:
      sessions = (answer["rooms"]?.members.map { $0 } ?? []).flatMap { member in
        RoomID(member.key).map { Self.sessions(member.value, in: $0) } ?? []
      }
    case .room(let room): sessions = Self.sessions(answer, in: room)
    case .session(let name): sessions = [(name, answer)]
    }
  }

  private static func sessions(_ json: JSON, in room: RoomID) -> [(name: RoomKeys.Name, data: JSON)] {
    (json["sessions"]?.members.map { $0 } ?? []).map { (RoomKeys.Name(room, $0.key), $0.value) }
  }

  package var count: Int { sessions.count }
  package var remaining: Int { sessions.count - position }
  var isDone: Bool { remaining == 0 && ahead == nil }

  /// Sessions of a slice: in the page the Worker needs 8 ms for so many, and whoever stores them 2 ms.
  private static let slice = 20

  /// Decrypts the next sessions.
  ///
  /// - Returns: the keys that can be read; `remaining` says whether there are more.
  package mutating func next(_ limit: Int = slice) -> [RoomKey] {
    if let keys = ahead {
      ahead = nil
      return keys
    }
    let end = position + min(max(0, limit), remaining)
    var keys: [RoomKey] = []
    for session in sessions[position..<end] {
      do throws(BackupRefusal) {
        keys.append(try Self.key(session.data, session.name, pair))
      } catch { unreadable += 1 }
    }
    position = end
    return keys
  }

  /// Decrypts the next slice before it is asked for.
  package mutating func workAhead() {
    if ahead == nil, remaining > 0 { ahead = next() }
  }

  /// All failures are the same: the server could learn from different ones.
  static func key(_ data: JSON, _ name: RoomKeys.Name, _ pair: Curve25519KeyPair) throws(BackupRefusal) -> RoomKey {
    guard let session = data["session_data"], let ephemeral = session.curve25519Key("ephemeral"),
      let ciphertext = session.base64("ciphertext"), let mac = session.base64("mac"),
      let plaintext = try? BackupCipher.decrypt(
        BackupCipher.Message(ephemeral: ephemeral, ciphertext: ciphertext, mac: mac), with: pair),
      let json = try? JSON.parse(plaintext), let key = try? ExportedRoomKey(json, from: .backup, as: name)
    else { throw .unreadable }
    return key.roomKey
  }
}
