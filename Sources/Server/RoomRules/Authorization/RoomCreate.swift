import JSON
import MatrixModel

/// What the rules need of a room's `m.room.create`.
package struct RoomCreate: Sendable {
  package let version: RoomVersion
  package let eventID: EventID
  package let roomID: RoomID
  package let sender: UserID
  /// The user who created the room: the sender, or in old versions the `creator` of the content.
  package let creator: UserID
  /// Users above every power level: the sender and `additional_creators`; empty before room version 12.
  package let privilegedCreators: [UserID]
  /// `m.federate`.
  package let isFederated: Bool

  package init(_ event: PDU) {
    self.init(
      eventID: event.eventID, roomID: event.roomID, sender: event.sender, content: event.content, version: event.version
    )
  }

  package init(eventID: EventID, roomID: RoomID, sender: UserID, content: JSON, version: RoomVersion) {
    self.version = version
    self.eventID = eventID
    self.roomID = roomID
    self.sender = sender
    creator = version.createNamesCreator ? UserID(content["creator"]) ?? sender : sender
    isFederated = content["m.federate"]?.bool ?? true
    guard version.hasPrivilegedCreators else {
      privilegedCreators = []
      return
    }
    var creators = [sender]
    for user in content["additional_creators"]?.elements.compactMap({ UserID($0) }) ?? [] where !creators.contains(user) {
      creators.append(user)
    }
    privilegedCreators = creators
  }

  /// The room's power levels, from the content of `m.room.power_levels` or, with nil, by default.
  package func powerLevels(_ content: JSON?) -> PowerLevels {
    guard let content else { return PowerLevels(creator: creator, creators: privilegedCreators) }
    return PowerLevels(content, creators: privilegedCreators)
  }
}
