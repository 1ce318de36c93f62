import JSON
import MatrixModel
import Olm

extension OwnKeys {
  func write(to writer: inout JSONWriter) {
    writer.member("user", user)
    writer.member("device", device)
    writer.member("account", base64: account.record.exposed())
    writer.member("published", isDevicePublished)
    writer.member("fallback_used", isFallbackUsed)
    writer.member("fallback_time", fallbackTime)
    if let createdAt { writer.member("created", createdAt) }
  }

  init(record json: JSON) throws(RecordRefusal) {
    let bytes = try json.bytes("account")
    guard let account = try? Account(record: Secret(bytes)) else { throw .unreadable }
    self.init(
      user: try json.identifier("user"), device: try json.identifier("device"), account: account,
      isDevicePublished: try json.flag("published"), isFallbackUsed: try json.flag("fallback_used"),
      fallbackTime: try json.number("fallback_time"))
    createdAt = json.integer("created")
  }
}
