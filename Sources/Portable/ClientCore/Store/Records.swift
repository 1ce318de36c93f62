import JSON
import MatrixModel

extension Session {
  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("user_id", userID)
      writer.member("device_id", deviceID)
      writer.member("access_token", accessToken)
      if let refreshToken { writer.member("refresh_token", refreshToken) }
      if let expiresAtMilliseconds { writer.member("expires_at", expiresAtMilliseconds) }
      if let refreshAtMilliseconds { writer.member("refresh_at", refreshAtMilliseconds) }
      if let homeserver { writer.member("homeserver", homeserver.text) }
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let user = UserID(record["user_id"]), let device = DeviceID(record["device_id"]),
      let token = record.text("access_token")
    else { return nil }
    self.init(
      userID: user, deviceID: device, accessToken: token, refreshToken: record.text("refresh_token"),
      homeserver: record["homeserver"]?.text.flatMap { ServerURL($0) },
      expiresAtMilliseconds: record.integer("expires_at"))
    refreshAtMilliseconds = record.integer("refresh_at") ?? refreshAtMilliseconds
  }
}

extension Member {
  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writeMembers(to: &$0) }
    return writer.bytes
  }

  func writeMembers(to writer: inout JSONWriter) {
    writer.member("user", userID)
    writer.member("membership", Int(membership.rawValue))
    if let displayName { writer.member("name", displayName) }
    if let avatar { writer.member("avatar", avatar) }
    if let reason { writer.member("reason", reason) }
  }

  init?(record: JSON) {
    guard let user = UserID(record["user"]), let number = record.integer("membership"),
      let membership = UInt8(exactly: number).flatMap(Membership.init(rawValue:))
    else { return nil }
    self.init(
      userID: user, membership: membership, displayName: record.text("name"), avatar: MediaURI(record["avatar"]),
      reason: record.text("reason"))
  }
}
