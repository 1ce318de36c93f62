import JSON
import MatrixModel
import Olm

extension UserDevices {
  func record(of user: UserID) -> [UInt8] {
    JSONWriter.record { writer in
      writer.member("user", user)
      // What was refused is not kept: it is asked for again.
      writer.member("outdated", isOutdated || !refused.isEmpty)
      writer.array("devices", devices.keys.ordered()) { id, writer in
        guard let device = devices[id] else { return }
        writer.object { writer in
          writer.member("id", device.device)
          writer.member("identity", base64: device.identity.bytes)
          writer.member("signing", base64: device.signing.bytes)
          writer.member("rooms", device.readsRooms)
          if let name = device.name { writer.member("name", name) }
          if let signer = device.signer { writer.member("signer", base64: signer.bytes) }
          if device.isDehydrated { writer.member("dehydrated", true) }
        }
      }
    }
  }

  static func read(_ bytes: [UInt8]) throws(RecordRefusal) -> (UserID, UserDevices) {
    let json = try JSON.record(bytes)
    let user: UserID = try json.identifier("user")
    var devices: [DeviceID: DeviceKeys] = [:]
    for entry in json["devices"]?.elements.map({ $0 }) ?? [] {
      let id: DeviceID = try entry.identifier("id")
      devices[id] = DeviceKeys(
        user: user, device: id, identity: try entry.identityKey("identity"), signing: try entry.signingKey("signing"),
        readsRooms: try entry.flag("rooms"), name: entry.text("name"), signer: try entry.signingKeyIfAny("signer"),
        isDehydrated: entry.bool("dehydrated") ?? false)
    }
    return (user, UserDevices(devices, isOutdated: try json.flag("outdated")))
  }
}
