import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Keys of encrypted calls between the program of calls, which makes and uses them, and the machine, which encrypts them for each device.
extension CallProgram {
  /// Whether the person may join a call there; tells why not.
  func mayCall(in room: Room) -> Bool {
    guard room.isEncrypted, room.directUserID == nil, !Host.pageState.contains(.canSealMedia) else { return true }
    app.notices.show(.groupCallCannotSeal, isTrouble: true)
    return false
  }

  /// Who is not known to be in the room gets no key.
  func learnMembers(of id: RoomID) {
    guard let room = app.client.room(id), room.isEncrypted, !room.hasAllMembers else { return }
    app.ask(.people(.loadMembers(id))) { [self] _ in tell(id) }
  }

  func tell(_ request: JSON, _ room: RoomID) {
    app.effects.encryption.tell(request) { [self] devices in
      self.request("told", room) { writer in
        writer.member("number", request.integer("number") ?? 0)
        writer.member("lost", devices == nil)
        writer.array("devices", devices ?? []) { device, writer in writer.object { device.write(to: &$0) } }
      }
    }
  }

  /// The key of somebody's device. One that would get none from here is not believed.
  func received(_ received: ReceivedDeviceEvent) {
    guard received.isReader, received.event.type == "io.element.call.encryption_keys" as StaticString,
      let content = try? JSON.parse(received.event.content), let room = RoomID(content["room_id"])
    else { return }
    request("key", room) { writer in
      received.sender.write(to: &writer)
      writer.member("content", content)
    }
  }
}
