import Database
import JSON
import MatrixModel
import ServerRooms

/// A place in a list of names as it was at one moment: what comes later does not move the pages.
package struct PageToken: Sendable, Equatable {
  /// What the first page saw: a position of the stream, or for accounts a time in milliseconds since 1970.
  let snapshot: Int64
  /// The last name of the page before.
  let last: ByteString

  init(snapshot: Int64, last: ByteString) {
    self.snapshot = snapshot
    self.last = last
  }

  /// `<snapshot>_<last name>`. nil for anything else.
  package init?(_ text: ByteString) {
    guard let line = text.utf8.firstIndex(of: UInt8(ascii: "_")),
      let snapshot = Int64(String(decoding: text.utf8[..<line], as: UTF8.self)), snapshot >= 0
    else { return nil }
    let last = ByteString(decoding: text.utf8[(line + 1)...])
    guard UserID(last) != nil else { return nil }
    self.init(snapshot: snapshot, last: last)
  }

  package var text: String { "\(snapshot)_\(last)" }
}

/// Ours: the members of a room in pages, as of the moment of the first page.
extension Rooms {
  package struct MemberPage: Sendable {
    /// `m.room.member` events by user ID.
    package let members: [StoredEvent]
    /// nil where there are no more.
    package let next: PageToken?
  }

  /// Members in an answer.
  package static let memberPageLimit = 500
  package static let memberPageDefault = 50

  /// The members whose membership is `membership`, by user ID; `from` of the page before keeps to what that one saw.
  ///
  /// Costs the members it steps over, not those of the room. Throws `M_FORBIDDEN`, `M_INVALID_PARAM`.
  package func memberPage(
    of roomID: RoomID, for user: UserID, membership: Membership, from token: PageToken?, limit: Int
  ) async throws -> MemberPage {
    let limit = min(max(limit, 1), Self.memberPageLimit)
    return try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      let snapshot = min(token?.snapshot ?? view.room.position, view.end ?? .max)
      guard snapshot <= view.room.position else {
        throw MatrixError.invalidParameter("'from' is not a 'next_batch' of this list.")
      }
      var members: [StoredEvent] = []
      var last = token?.last ?? ""
      let loader = RoomLoader(transaction: transaction)
      // Nearly all are wanted nearly always; where they are not, the next steps are long.
      var step = limit + 1
      while members.count <= limit {
        let batch = try loader.members(of: view.room.number, at: snapshot, after: last, limit: step)
        members += batch.filter { Membership($0.content["membership"]) == membership }
        guard batch.count == step, let end = batch.last?.stateKey else { break }
        last = end
        step = Self.memberPageLimit
      }
      let shown = Array(members.prefix(limit))
      let hasMore = members.count > limit
      return MemberPage(
        members: shown,
        next: hasMore ? shown.last?.stateKey.map { PageToken(snapshot: snapshot, last: $0) } : nil)
    }
  }
}
