import JSON
import MatrixModel
import Olm

extension DeviceSessions.Entry {
  func record(of device: Curve25519Key) -> [UInt8] {
    JSONWriter.record { writer in
      writer.member("device", base64: device.bytes)
      if let repairedAt { writer.member("repaired", repairedAt) }
      writer.array("sessions", links) { link, writer in
        writer.object { writer in
          writer.member("session", base64: link.session.record.exposed())
          writer.member("signing", base64: link.signing.bytes)
        }
      }
    }
  }

  static func read(_ bytes: [UInt8]) throws(RecordRefusal) -> (Curve25519Key, DeviceSessions.Entry) {
    let json = try JSON.record(bytes)
    var entry = DeviceSessions.Entry()
    entry.repairedAt = json.integer("repaired")
    for element in json["sessions"]?.elements.map({ $0 }) ?? [] {
      let bytes = try element.bytes("session")
      guard let session = try? Session(record: Secret(bytes)) else { throw .unreadable }
      entry.links.append(DeviceSessions.Link(session: session, signing: try element.signingKey("signing")))
    }
    return (try json.identityKey("device"), entry)
  }
}
