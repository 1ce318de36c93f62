import Encryption
import JSON
import MatrixModel
import Olm

let encryptionChecks = [
  Check("Encryption: others read what a device publishes") {
    var random = SecretSource.system
    let bob = UserID(trusted: "@bob:two.example"), phone = DeviceID(trusted: "PHONE")
    var own = OwnKeys(user: bob, device: phone, account: Account(random: &random))
    guard let keys = published(&own, &random)?["device_keys"] else { return false }
    var tracker = DeviceTracker()
    tracker.track([bob])
    guard let query = tracker.nextQuery(at: 0), let answer = holding(bob, phone, "device_keys", keys) else { return false }
    return tracker.answered(query, answer, at: 0).count == 1
      && tracker.device(phone, of: bob)?.identity == own.account.identity.key
  },
  Check("Encryption: a device that changed its keys is refused") {
    let bob = UserID(trusted: "@bob:two.example"), phone = DeviceID(trusted: "PHONE")
    var tracker = DeviceTracker()
    tracker.track([bob])
    for round in 0..<2 {
      var random = SecretSource.system
      var own = OwnKeys(user: bob, device: phone, account: Account(random: &random))
      tracker.changed([bob])
      guard let keys = published(&own, &random)?["device_keys"], let query = tracker.nextQuery(at: 0),
        let answer = holding(bob, phone, "device_keys", keys)
      else { return false }
      let news = tracker.answered(query, answer, at: 0)
      if round == 1, news != [.refused(bob, phone, .changedKeys)] { return false }
    }
    return true
  }
]

private func published(_ own: inout OwnKeys, _ random: inout SecretSource) -> JSON? {
  own.nextUpload(random: &random, at: 0).flatMap { try? JSON.parse($0) }
}

private func holding(_ user: UserID, _ device: DeviceID, _ name: StaticString, _ value: JSON) -> JSON? {
  try? JSON.object { writer in
    writer.key(name)
    writer.object { writer in
      writer.key(user)
      writer.object { writer in
        writer.key(device)
        writer.write(value)
      }
    }
  }
}
