import Database
import Homeserver
import JSON
import MatrixModel
import ServerAccounts

/// What `POST /keys/query` asks for and answers.
struct KeyQuery: Sendable {
  private let wanted: [(userID: UserID, devices: [DeviceID])]

  /// Users of one query.
  static let usersLimit = 10_000

  /// Throws `M_BAD_JSON`, `M_TOO_LARGE`.
  init(_ json: JSON) throws(MatrixError) {
    var wanted: [(userID: UserID, devices: [DeviceID])] = []
    var named: Set<UserID> = []
    for user in json.members {
      guard user.value.isArray else { throw .badJSON("'device_keys' is not a map of user IDs to lists of device IDs.") }
      var devices: [DeviceID] = []
      for device in user.value.elements {
        guard device.isString else { throw .badJSON("A device ID is not a string.") }
        if let deviceID = DeviceID(device) { devices.append(deviceID) }
      }
      // Like a user that nobody knows: the others are answered. One named twice would be written twice.
      guard let userID = UserID(user.key), named.insert(userID).inserted else { continue }
      wanted.append((userID, devices))
      guard wanted.count <= Self.usersLimit else {
        throw .tooLarge("At most \(Self.usersLimit) users are queried at once.")
      }
    }
    self.wanted = wanted
  }

  /// The answer's JSON.
  func answer(_ homeserver: Homeserver, to asker: UserID) async throws -> [UInt8] {
    try await homeserver.database.read { tx in
      var devices = JSONWriter(capacity: 4096)
      var crossSigning: [CrossSigningKeys.Usage: JSONWriter] = [:]
      devices.beginObject()
      for usage in CrossSigningKeys.Usage.allCases {
        crossSigning[usage] = JSONWriter()
        crossSigning[usage]?.beginObject()
      }
      for (userID, deviceIDs) in wanted {
        let published = try DeviceKeys.published(tx, of: userID, devices: deviceIDs, to: asker)
        let keys = try CrossSigningKeys.published(tx, of: userID, to: asker)
        // Users nobody knows are left out.
        if published.isEmpty, try !Accounts.exists(tx, userID) { continue }
        devices.key(userID)
        devices.object { writer in
          for device in published {
            writer.key(device.deviceID)
            writer.raw(device.json)
          }
        }
        for (usage, json) in keys {
          crossSigning[usage]?.key(userID)
          crossSigning[usage]?.raw(json)
        }
      }
      devices.endObject()
      for usage in CrossSigningKeys.Usage.allCases { crossSigning[usage]?.endObject() }
      return Self.joined(devices.bytes, crossSigning)
    }
  }

  private static func joined(_ devices: [UInt8], _ crossSigning: [CrossSigningKeys.Usage: JSONWriter]) -> [UInt8] {
    var writer = JSONWriter(capacity: devices.count + 1024)
    writer.object { writer in
      writer.member("failures", raw: Array("{}".utf8))
      writer.member("device_keys", raw: devices)
      writer.member("master_keys", raw: crossSigning[.master]?.bytes ?? [])
      writer.member("self_signing_keys", raw: crossSigning[.selfSigning]?.bytes ?? [])
      writer.member("user_signing_keys", raw: crossSigning[.userSigning]?.bytes ?? [])
    }
    return writer.bytes
  }
}
