import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// What one sliding sync asks for. Spec: MSC4186, "Request Body"; both the form of its unstable path (`ranges`, pairs in
/// `required_state`, `pos` and `timeout` in the query) and the last one are read.
package struct SlidingRequest: Sendable {
  /// How much of a room is wanted.
  struct RoomConfig: Sendable, Equatable {
    var timelineLimit: Int
    var requiredState: RequiredState

    /// What any of them asks for; nil of none.
    static func union(of configs: [RoomConfig]) -> RoomConfig? {
      guard let first = configs.first, configs.count > 1 else { return configs.first }
      return RoomConfig(
        timelineLimit: configs.reduce(first.timelineLimit) { max($0, $1.timelineLimit) },
        requiredState: .union(of: configs.map(\.requiredState)))
    }
  }

  struct List: Sendable {
    let name: ByteString
    /// Places in the filtered list, ends included, in order and apart from each other; nil for all.
    let ranges: [ClosedRange<Int>]?
    let config: RoomConfig
    let filter: SlidingFilter
  }

  /// Lists and subscriptions of one request, ranges of a list, and events of one room's timeline.
  package static let listsLimit = 100
  package static let subscriptionsLimit = 100
  package static let rangesLimit = 100
  package static let timelineLimit = 500
  /// Entries of `required_state` in all lists and subscriptions together: each told room is held against those meant for it.
  package static let requiredStateLimit = 5_000
  /// Bytes of the name of a list or connection, by the grammar of opaque identifiers.
  package static let nameBytesLimit = 255

  package let userID: UserID
  package let deviceID: DeviceID
  package let position: SlidingPosition?
  /// How long to wait for news, 0...`SyncRequest.timeoutMillisecondsLimit`.
  let timeoutMilliseconds: Int64
  package let presence: PresenceState
  let connectionID: ByteString
  let transactionID: ByteString?
  let lists: [List]
  let subscriptions: [(room: RoomID, config: RoomConfig)]
  let extensions: SlidingExtensionRequest

  /// What may stand in the query, and goes before the body then.
  package struct Query: Sendable {
    package var position: ByteString?
    package var timeoutMilliseconds: Int64?
    package var presence: ByteString?

    package init(position: ByteString? = nil, timeoutMilliseconds: Int64? = nil, presence: ByteString? = nil) {
      self.position = position
      self.timeoutMilliseconds = timeoutMilliseconds
      self.presence = presence
    }
  }

  /// Throws `M_INVALID_PARAM`, `M_BAD_JSON`; `M_UNKNOWN_POS` for a position that this server did not give out.
  package init(_ body: JSON, _ query: Query = Query(), of userID: UserID, _ deviceID: DeviceID) throws(MatrixError) {
    self.userID = userID
    self.deviceID = deviceID
    let inBody = try body.optionalText("pos")
    if let position = query.position ?? inBody, !position.isEmpty {
      guard let position = SlidingPosition(position) else { throw .unknownPosition() }
      self.position = position
    } else {
      self.position = nil
    }
    let timeout = try body.optionalInteger("timeout") ?? 0
    timeoutMilliseconds = min(max(query.timeoutMilliseconds ?? timeout, 0), SyncRequest.timeoutMillisecondsLimit)
    let presenceInBody = try body.optionalText("set_presence")
    if let text = query.presence ?? presenceInBody {
      guard let presence = PresenceState(text) else {
        throw .invalidParameter("'set_presence' is offline, online or unavailable.")
      }
      self.presence = presence
    } else {
      presence = .online
    }
    connectionID = try body.optionalText("conn_id") ?? ""
    guard connectionID.count <= Self.nameBytesLimit else {
      throw .invalidParameter("'conn_id' has at most \(Self.nameBytesLimit) bytes.")
    }
    transactionID = try body.optionalText("txn_id")
    lists = try Self.lists(body, userID)
    subscriptions = try Self.subscriptions(body, userID)
    let entries = (lists.map(\.config) + subscriptions.map(\.config)).reduce(0) { $0 + $1.requiredState.entriesCount }
    guard entries <= Self.requiredStateLimit else {
      throw .invalidParameter("A request has at most \(Self.requiredStateLimit) entries of 'required_state' in all.")
    }
    extensions = try SlidingExtensionRequest(try body.optionalObject("extensions"))
  }

  private static func lists(_ body: JSON, _ user: UserID) throws(MatrixError) -> [List] {
    guard let members = try body.optionalObject("lists") else { return [] }
    guard members.count <= listsLimit else { throw .invalidParameter("A request has at most \(listsLimit) lists.") }
    var lists: [List] = []
    for member in members.members {
      guard member.value.isObject, (1...nameBytesLimit).contains(member.key.count) else {
        throw .invalidParameter("A list is an object with a name of 1 to \(nameBytesLimit) bytes.")
      }
      lists.append(
        List(
          name: member.key, ranges: try ranges(member.value), config: try config(member.value, user),
          filter: try SlidingFilter(member.value["filters"])))
    }
    return lists
  }

  private static func ranges(_ list: JSON) throws(MatrixError) -> [ClosedRange<Int>]? {
    if let range = try list.optionalArray("range") { return [try self.range(range)] }
    guard let ranges = try list.optionalArray("ranges") else { return nil }
    guard ranges.count <= rangesLimit else { throw .invalidParameter("A list has at most \(rangesLimit) ranges.") }
    var read: [ClosedRange<Int>] = []
    for range in ranges.elements { read.append(try self.range(range)) }
    return joined(read)
  }

  /// The same places, none of them twice: ranges that overlap would cost each room once more.
  private static func joined(_ ranges: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
    var joined: [ClosedRange<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  private static func range(_ range: JSON) throws(MatrixError) -> ClosedRange<Int> {
    var ends = range.elements
    guard range.count == 2, let first = ends.next()?.integer, let last = ends.next()?.integer, first >= 0, last >= first else {
      throw .invalidParameter("A range is two numbers from 0 up, the second not below the first.")
    }
    return Int(clamping: first)...Int(clamping: last)
  }

  private static func config(_ json: JSON, _ user: UserID) throws(MatrixError) -> RoomConfig {
    let limit = try json.optionalInteger("timeline_limit") ?? 0
    guard limit >= 0 else { throw .invalidParameter("'timeline_limit' is a number from 0 up.") }
    return RoomConfig(
      timelineLimit: Int(min(limit, Int64(timelineLimit))), requiredState: try RequiredState(json["required_state"], for: user))
  }

  private static func subscriptions(_ body: JSON, _ user: UserID) throws(MatrixError) -> [(RoomID, RoomConfig)] {
    guard let members = try body.optionalObject("room_subscriptions") else { return [] }
    guard members.count <= subscriptionsLimit else {
      throw .invalidParameter("A request has at most \(subscriptionsLimit) subscriptions.")
    }
    var subscriptions: [(RoomID, RoomConfig)] = []
    for member in members.members {
      guard let room = RoomID(member.key) else { throw .invalidParameter("'\(member.key)' is no room ID.") }
      subscriptions.append((room, try config(member.value, user)))
    }
    return subscriptions
  }
}

/// `pos`: `s<position>_<typing>_<boot>_p<answer>`. The first part lets it stand for a place in a timeline, as of `/messages`;
/// the last names one answer of this process.
package struct SlidingPosition: Sendable, Equatable {
  let seen: SyncPosition
  let boot: Int64
  /// Which of the answers this process has given.
  let answer: Int64

  init(_ seen: SyncPosition, boot: Int64, answer: Int64) {
    self.seen = seen
    self.boot = boot
    self.answer = answer
  }

  /// nil for what is no position of this server.
  init?(_ text: ByteString) {
    let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    guard text.count <= 120, parts.count == 4, parts[3].first == UInt8(ascii: "p"),
      let answer = Int64(String(decoding: parts[3].dropFirst(), as: UTF8.self)), answer > 0,
      let token = SyncToken(ByteString(decoding: text.utf8.dropLast(parts[3].count + 1)))
    else { return nil }
    self.init(token.seen, boot: token.boot, answer: answer)
  }

  var text: ByteString { ByteString("s\(seen.position)_\(seen.typing)_\(boot)_p\(answer)") }
}

extension MatrixError {
  /// MSC4186, "Connections": the client begins a new connection.
  static func unknownPosition() -> MatrixError {
    MatrixError(status: 400, "M_UNKNOWN_POS", "The connection is not known (any longer); sync again without 'pos'.")
  }
}
