import JSON
import MatrixClient
import MatrixModel

/// A session as `session.json` has it.
struct SavedSession: Sendable {
  let session: Session

  var userID: UserID { session.userID }

  /// nil where the bytes are no session.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSON.parse(bytes), let user = UserID(json["user_id"]), let device = DeviceID(json["device_id"]),
      let token = json["access_token"]?.text, let homeserver = (json["homeserver"]?.text).flatMap({ ServerURL($0) })
    else { return nil }
    session = Session(
      userID: user, deviceID: device, accessToken: token, refreshToken: json["refresh_token"]?.text, homeserver: homeserver,
      expiresAtMilliseconds: json["expires_at_ms"]?.integer)
  }

  static func bytes(of session: Session) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("user_id", session.userID)
      writer.member("device_id", session.deviceID)
      writer.member("homeserver", session.homeserver?.text ?? "")
      writer.member("access_token", session.accessToken)
      if let token = session.refreshToken { writer.member("refresh_token", token) }
      if let time = session.expiresAtMilliseconds { writer.member("expires_at_ms", time) }
    }
    return writer.bytes
  }

  /// For a process beside the one that has the store: that one refreshes the token, and nobody else may.
  var withoutRefresh: Session {
    Session(
      userID: session.userID, deviceID: session.deviceID, accessToken: session.accessToken, homeserver: session.homeserver)
  }
}
