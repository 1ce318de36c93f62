import JSON
import MatrixModel

@testable import ServerRooms
@testable import ServerSync

/// A client of sliding sync: one connection of one device.
final class SlidingClient {
  let fixture: SyncFixture
  let user: UserID
  let device: DeviceID
  /// The body of its requests, without position.
  var body: String
  var pos: ByteString?

  init(_ fixture: SyncFixture, _ name: String, device: String = "DEVICE", _ body: String) {
    self.fixture = fixture
    self.body = body
    user = RoomsFixture.user(name)
    self.device = DeviceID(trusted: ByteString(device))
  }

  /// A list `all` of the newest rooms.
  static func list(
    _ range: String = "[0,19]", timeline: Int = 10, state: String = "[]", filters: String = "{}", more: String = ""
  ) -> String {
    #"{"lists":{"all":{"ranges":[\#(range)],"timeline_limit":\#(timeline),"required_state":\#(state),"filters":\#(filters)}}\#(more)}"#
  }

  /// What the request is answered with; the position is not kept.
  func ask(timeout: Int64 = 0) async throws -> SlidingAnswer {
    let request = try SlidingRequest(
      json(body), SlidingRequest.Query(position: pos, timeoutMilliseconds: timeout), of: user, device)
    return SlidingAnswer(json: try JSON.parse(try await fixture.sliding.sync(request)))
  }

  @discardableResult
  func sync(timeout: Int64 = 0) async throws -> SlidingAnswer {
    let answer = try await ask(timeout: timeout)
    pos = answer.json["pos"]?.text
    return answer
  }
}

struct SlidingAnswer: Sendable {
  let json: JSON

  /// Room IDs that were told.
  var rooms: Set<String> { Set(json["rooms"]?.members.map(\.key.string) ?? []) }
  var count: Int64? { json["lists"]?["all"]?["count"]?.integer }
  func room(_ room: RoomID) -> SlidingRoomAnswer? { json["rooms"]?[room.text].map { SlidingRoomAnswer(json: $0) } }
  func extensionAnswer(_ name: StaticString) -> JSON? { json["extensions"]?[name] }
}

struct SlidingRoomAnswer: Sendable {
  let json: JSON

  var timeline: [JSON] { json["timeline"]?.elements.map { $0 } ?? [] }
  var eventIDs: [EventID] { timeline.compactMap { EventID($0["event_id"]) } }
  var bodies: [String] { timeline.compactMap { $0["content"]?["body"]?.string } }
  var isInitial: Bool { json["initial"]?.bool ?? false }
  var isLimited: Bool { json["limited"]?.bool ?? false }
  var isExpanded: Bool { json["unstable_expanded_timeline"]?.bool ?? false }
  var live: Int64? { json["num_live"]?.integer }
  var bumpStamp: Int64 { json["bump_stamp"]?.integer ?? -1 }
  var previous: TimelineToken? { json["prev_batch"]?.text.flatMap { TimelineToken($0) } }
  /// `type|state key` in order.
  var state: [String] {
    json["required_state"]?.elements.map { "\($0["type"]?.string ?? "")|\($0["state_key"]?.string ?? "")" }.sorted() ?? []
  }
  var heroes: [String] { json["heroes"]?.elements.compactMap { $0["user_id"]?.string }.sorted() ?? [] }
  var unread: [Int64] {
    [json["notification_count"]?.integer ?? -1, json["highlight_count"]?.integer ?? -1]
  }
}
