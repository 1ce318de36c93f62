import JSON
import MatrixModel
import ServerCore

/// What an operator decides about rooms.
package struct RoomConfiguration: Sendable {
  /// The users who may put rooms into the list of public rooms.
  package enum Publishing: Sendable { case members, administrators }

  package var serverName: ServerName
  package var isPresenceEnabled = true
  /// Whether leaving a room forgets it too. Spec: `m.forget_forced_upon_leave` capability.
  package var forgetsRoomsOnLeave = false
  /// Policy rooms of this server whose `m.ban` rules hold for everyone's invitations and joins.
  package var policyRooms: [RoomID] = []
  package var publishing = Publishing.members
  package var retention = RetentionRules()
  /// The user in whose name the server speaks.
  package var noticesUser: UserID
  package var clock = WallClock.system

  package init(serverName: ServerName, noticesUser: UserID) {
    self.serverName = serverName
    self.noticesUser = noticesUser
  }
}
