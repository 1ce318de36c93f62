import JSON
import MatrixModel

@testable import Encryption

extension ModelServer {
  static let dehydratedPage = 3

  func answerOfDehydrated(_ request: MachineRequest, _ body: JSON, of user: UserID) throws -> JSON? {
    switch "\(request.endpoint.method) \(request.endpoint.pattern)" {
    case "put \(Endpoint.putDehydratedDevice.pattern)":
      guard dehydrates, let device = DeviceID(body["device_id"]), let data = body["device_data"] else {
        throw ModelAccounts.NotFound()
      }
      removeDehydrated(of: user)
      dehydrated[user] = (device, data)
      var added = Device()
      added.keys = body["device_keys"]
      added.oneTimeKeys = (body["one_time_keys"]?.members.map { $0 } ?? []).map { ($0.key, $0.value) }
      added.fallback = body["fallback_keys"]?.members.map { $0 }.first.map { ($0.key, $0.value) }
      devices[Name(user: user, device: device)] = added
      announce(user)
      return try JSON.object { $0.member("device_id", device) }
    case "get \(Endpoint.getDehydratedDevice.pattern)":
      guard dehydrates, let found = dehydrated[user] else { throw ModelAccounts.NotFound() }
      return try JSON.object { writer in
        writer.member("device_id", found.device)
        writer.member("device_data", found.data)
      }
    case "delete \(Endpoint.deleteDehydratedDevice.pattern)":
      guard let device = dehydrated[user]?.device else { throw ModelAccounts.NotFound() }
      removeDehydrated(of: user)
      return try JSON.object { $0.member("device_id", device) }
    case "post \(Endpoint.getDehydratedDeviceEvents.pattern)":
      guard let found = dehydrated[user], found.device.text == request.parameters[0] else { throw ModelAccounts.NotFound() }
      let events = toDevice(of: Name(user: user, device: found.device))
      let start = body.text("next_batch").flatMap { Int($0.string.dropFirst()) } ?? 0
      let page = events.dropFirst(start).prefix(Self.dehydratedPage)
      return try JSON.object { writer in
        writer.array("events", Array(page)) { $1.write($0) }
        writer.member("next_batch", ByteString("d\(start + page.count)"))
      }
    default: return nil
    }
  }

  private func removeDehydrated(of user: UserID) {
    guard let old = dehydrated.removeValue(forKey: user) else { return }
    remove(Name(user: user, device: old.device))
  }

  /// Messages that came to the user's dehydrated device.
  func dehydratedMessages(of user: UserID) -> [JSON] {
    dehydrated[user].map { toDevice(of: Name(user: user, device: $0.device)) } ?? []
  }

  /// Something else comes to it.
  func sendDehydrated(_ event: JSON, to user: UserID) {
    guard let device = dehydrated[user]?.device else { return }
    devices[Name(user: user, device: device)]?.log.append(.toDevice(event))
  }
}
