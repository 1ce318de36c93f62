import JSON
import MatrixModel
import Olm

/// Something about the devices of a user that others may want to know.
package enum DeviceNews: Equatable, Sendable {
  /// It is in the user's first list.
  case listed(DeviceKeys)
  case appeared(DeviceKeys)
  case gone(UserID, DeviceID)
  case refused(UserID, DeviceID, DeviceRefusal)
  /// The server no longer gives its user's signature of the device.
  case unsigned(UserID, DeviceID)
}

/// The devices of everybody who shares an encrypted room with the user. It makes no requests: `nextQuery` says what to ask the server for.
///
/// A user's list is outdated from the moment the server names the user until an answer that was asked for after it. So a change that comes
/// while a query is under way is never lost. Spec: Client-Server API, "Tracking the device list for a user".
package struct DeviceTracker: Sendable {
  /// A body for `/keys/query`.
  package struct DeviceQuery: Equatable, Sendable {
    /// In the order of their IDs, at most `EncryptionLimits.usersOfQuery`.
    package let users: [UserID]
  }

  private var tracked: [UserID: UserDevices] = [:]
  private var servers: [ServerName: FailingServer] = [:]
  /// Users of whom the store has another record, or none.
  private(set) var unstored: Set<UserID> = []

  package init() {}

  /// As they were stored.
  mutating func restore(_ devices: UserDevices, of user: UserID) { tracked[user] = devices }

  /// nil for who is not tracked any more.
  func record(of user: UserID) -> [UInt8]? { tracked[user]?.record(of: user) }

  mutating func markStored() { unstored = [] }

  // MARK: Who is tracked

  /// Their lists are outdated until they are asked for.
  package mutating func track(_ users: [UserID]) {
    for user in users where tracked[user] == nil {
      tracked[user] = UserDevices()
      unstored.insert(user)
    }
  }

  /// No encrypted room is shared with them any more.
  package mutating func forget(_ users: [UserID]) {
    for user in users where tracked.removeValue(forKey: user) != nil { unstored.insert(user) }
  }

  package func isTracked(_ user: UserID) -> Bool { tracked[user] != nil }

  // MARK: What is known

  /// In the order of their IDs.
  package func devices(of user: UserID) -> [DeviceKeys] {
    (tracked[user]?.devices.values.map { $0 } ?? []).ordered { $0.device < $1.device }
  }

  /// The device of the user that has both keys.
  func device(_ identity: Curve25519Key, _ signing: Ed25519Key, of user: UserID) -> DeviceKeys? {
    tracked[user]?.devices.values.first { $0.identity == identity && $0.signing == signing }
  }

  package func device(_ device: DeviceID, of user: UserID) -> DeviceKeys? { tracked[user]?.devices[device] }

  /// Devices that the server lists and whose keys are not taken, in the order of their IDs.
  func refused(of user: UserID) -> [DeviceID] { tracked[user]?.refused ?? [] }

  /// All devices of everybody.
  var allDevices: [DeviceKeys] { tracked.values.flatMap { $0.devices.values } }

  var refusedCount: Int { tracked.values.reduce(0) { $0 + $1.refused.count } }

  /// Those of the users whose list may have changed since it was asked for.
  package func outdated(among users: [UserID]) -> [UserID] { users.filter { tracked[$0]?.isOutdated ?? false } }

  /// Whether an answer about one of the users may be here soon.
  func isAnyAwaited(among users: [UserID], at now: Int64) -> Bool {
    users.contains { user in
      guard let known = tracked[user], known.isOutdated else { return false }
      return known.asked != nil || isReachable(user.serverName, at: now)
    }
  }

  // MARK: What the server says

  /// `device_lists.changed`.
  package mutating func changed(_ users: [UserID]) {
    for user in users where tracked[user] != nil {
      tracked[user]?.markOutdated()
      unstored.insert(user)
    }
  }

  /// What happened in between is not known, as after a sync without a token.
  package mutating func lostTrack() {
    changed(tracked.keys.map { $0 })
  }

  // MARK: Queries

  /// The next one, if there is something to ask for. A user is in one query at a time.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func nextQuery(at now: Int64) -> DeviceQuery? {
    let waiting = tracked.filter { $1.isOutdated && $1.asked == nil }.keys.filter { isReachable($0.serverName, at: now) }
    let users = Array(waiting.ordered().prefix(EncryptionLimits.usersOfQuery))
    guard !users.isEmpty else { return nil }
    for user in users { tracked[user]?.begin() }
    return DeviceQuery(users: users)
  }

  /// When a server that failed is asked again, if users wait for one; milliseconds since 1970.
  package func nextRetry() -> Int64? {
    tracked.filter { $1.isOutdated && $1.asked == nil }.keys.compactMap { servers[$0.serverName]?.retry }.min()
  }

  /// - Parameters:
  ///   - answer: what `/keys/query` answered.
  ///   - identities: have taken the same answer. Without them no device counts as signed by its user.
  package mutating func answered(
    _ query: DeviceQuery, _ answer: JSON, knowing identities: Identities? = nil, at now: Int64
  ) -> [DeviceNews] {
    let failures = Set(answer.failedServers)
    for server in failures { servers[server] = FailingServer(after: servers[server], at: now) }
    var news: [DeviceNews] = []
    for user in query.users {
      if failures.contains(user.serverName) {
        tracked[user]?.giveUp()
      } else {
        servers[user.serverName] = nil
        unstored.insert(user)
        let selfSigning = identities?.identity(of: user)?.keys.selfSigning
        news += tracked[user]?.take(answer["device_keys"]?[user.text], of: user, selfSigning: selfSigning) ?? []
      }
    }
    return news
  }

  /// There was no answer. The users are asked for again.
  package mutating func failed(_ query: DeviceQuery) {
    for user in query.users { tracked[user]?.giveUp() }
  }

  private func isReachable(_ server: ServerName, at now: Int64) -> Bool { servers[server].map { $0.retry <= now } ?? true }
}

/// A server that did not tell its users' devices: asked again after 10 s, then after twice as long each time.
struct FailingServer: Sendable {
  static let firstPauseMilliseconds: Int64 = 10_000, longestPauseMilliseconds: Int64 = 60 * 60 * 1_000

  let retry: Int64
  private let pause: Int64

  init(after last: FailingServer?, at now: Int64) {
    pause = min(last.map { $0.pause * 2 } ?? Self.firstPauseMilliseconds, Self.longestPauseMilliseconds)
    retry = now + pause
  }
}

extension DeviceTracker.DeviceQuery {
  /// The body of the request.
  package var body: [UInt8] {
    JSONWriter.object { writer in
      writer.key("device_keys")
      writer.object { writer in
        for user in users {
          writer.key(user)
          writer.array { _ in }
        }
      }
    }
  }
}
