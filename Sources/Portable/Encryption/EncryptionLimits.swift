/// What others can make this side keep or do, at most.
package enum EncryptionLimits {
  /// Devices of one user. Others are refused, those with the greatest IDs first.
  package static let devicesOfUser = 1_000
  /// Users of one `/keys/query`.
  package static let usersOfQuery = 250
  /// Devices that give the same session as their own.
  package static let keysOfSession = 8
  /// The spec sets no limit; an ID is a key in base64.
  package static let sessionIDBytes = 255
  /// The spec sets no limit to the ID of a request for a secret.
  package static let requestIDBytes = 255
  /// The name of a version of the backup, which a server chooses.
  package static let backupVersionBytes = 255
  /// A message between devices. No server takes larger events.
  package static let toDeviceBytes = 64 * 1_024
  /// The content of an event of the app for devices, and the devices that it goes to.
  package static let messageBytes = 32 * 1_024, devicesOfMessage = 3_000
  /// The spec sets 255 for events of rooms.
  package static let eventTypeBytes = 255
  /// Messages between devices of one sync. Servers give at most some hundred.
  package static let toDeviceOfSync = 10_000
  /// Messages, and pages of them, that are read of a dehydrated device.
  package static let eventsOfDehydrated = 50_000, pagesOfDehydrated = 5_000
  /// Keys of rooms and refusals that one user may bring within an hour, and one who shares no encrypted room with the account's user.
  package static let roomKeysOfUser = 2_000, roomKeysOfStranger = 100
  /// Users whose devices could not begin a session with this one.
  package static let unreachedUsers = 1_000
  /// Containers inside each other in an answer: as many as the client reads (`Answer.parse`), so that no answer passes the machine by.
  package static let depthOfAnswer = 1_000
  /// How deep in an answer events stand. Contents of events may be deeper.
  static let depthOfEvents = 64
  /// Devices whose sessions are in memory, and sessions of rooms.
  package static let cachedDevices = 2_000, cachedRoomKeys = 1_000
}
