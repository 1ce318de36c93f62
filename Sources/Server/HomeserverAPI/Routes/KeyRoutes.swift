import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// End-to-end keys: upload, query, claim, and who changed theirs.
extension Routes {
  mutating func addKeyRoutes() {
    let homeserver = homeserver
    addCrossSigningRoutes()
    addKeyChangeRoute()

    on(.uploadKeys) { request, session in
      try session.requireDevice()
      let upload = try DeviceKeys.Upload(await request.object())
      let counts = try await homeserver.deviceKeys.upload(upload, from: session)
      return .json { writer in
        writer.object { writer in
          writer.key("one_time_key_counts")
          writer.object { writer in
            for entry in counts {
              writer.key(entry.algorithm)
              writer.write(entry.count)
            }
          }
        }
      }
    }

    on(.queryKeys, budget: .read) { request, session in
      let body = try await request.object()
      _ = try body.optionalInteger("timeout")
      let query = try KeyQuery(body.requiredObject("device_keys"))
      return .json(try await query.answer(homeserver, to: session.userID))
    }

    on(.claimKeys) { request, _ in
      let body = try await request.object()
      _ = try body.optionalInteger("timeout")
      let claimed = try await homeserver.oneTimeKeys.claim(Self.wanted(body.requiredObject("one_time_keys")))
      return .json(capacity: 4096) { Self.write(claimed, to: &$0) }
    }
  }

  private mutating func addKeyChangeRoute() {
    let deviceLists = homeserver.deviceLists

    on(.getKeysChanges) { request, session in
      let query = try request.query()
      let (start, end) = (try Self.position(query, "from"), try Self.position(query, "to"))
      let changes = try await deviceLists.changes(for: session.userID, after: start, upTo: end)
      return .json { writer in
        writer.object { writer in
          writer.array("changed", changes.changed) { $1.write($0) }
          writer.array("left", changes.left) { $1.write($0) }
        }
      }
    }
  }

  /// The position in a sync token. Throws `M_MISSING_PARAM`, `M_INVALID_PARAM`.
  private static func position(_ query: QueryParameters, _ name: StaticString) throws -> Int64 {
    guard let token = SyncToken(try query.required(name)) else {
      throw MatrixError.invalidParameter("'\(name)' is not a token of this server's syncs.")
    }
    return token.seen.position
  }

  /// Keys of one claim or query.
  private static let wantedLimit = 10_000

  private static func wanted(_ json: JSON) throws(MatrixError) -> [OneTimeKeys.Wanted] {
    var wanted: [OneTimeKeys.Wanted] = []
    // A device named twice would be written twice into an answer that has room for it once.
    var named: [UserID: Set<DeviceID>] = [:]
    for user in json.members {
      guard let userID = UserID(user.key), user.value.isObject else {
        throw .badJSON("'one_time_keys' is not a map of user IDs to devices.")
      }
      for device in user.value.members {
        guard let deviceID = DeviceID(device.key), let algorithm = device.value.text else {
          throw .badJSON("'one_time_keys' does not map a device ID to an algorithm.")
        }
        guard named[userID, default: []].insert(deviceID).inserted else { continue }
        wanted.append(.init(userID: userID, deviceID: deviceID, algorithm: algorithm))
        guard wanted.count <= wantedLimit else { throw .tooLarge("At most \(wantedLimit) keys are claimed at once.") }
      }
    }
    return wanted
  }

  /// `{user: {device: {"algorithm:id": key}}}`
  private static func write(_ claimed: [OneTimeKeys.Claimed], to writer: inout JSONWriter) {
    let byUser = Dictionary(grouping: claimed) { $0.wanted.userID }
    writer.object { writer in
      writer.member("failures", raw: Array("{}".utf8))
      writer.key("one_time_keys")
      writer.object { writer in
        for (userID, keys) in byUser.sorted(by: { $0.key < $1.key }) {
          writer.key(userID)
          writer.object { writer in
            for key in keys {
              writer.key(key.wanted.deviceID)
              writer.object { writer in
                writer.key(key.keyID)
                writer.raw(key.json)
              }
            }
          }
        }
      }
    }
  }
}
