import Encryption
import JSON
import MatrixModel
import Olm

/// A device of somebody else, and what the server tells of it.
struct PublishedDevice {
  let user: UserID
  let device: DeviceID
  let keys: JSON
  /// One of its one-time keys by its name.
  let claimed: JSON

  init(_ device: DeviceID, of user: UserID, random: inout SecretSource) {
    (self.user, self.device) = (user, device)
    var own = OwnKeys(user: user, device: device, account: Account(random: &random))
    own.told(counts: try? JSON.object { _ in }, unusedFallbacks: nil)
    guard let upload = own.nextUpload(random: &random, at: 0).flatMap({ try? JSON.parse($0) }),
      let keys = upload["device_keys"], let first = upload["one_time_keys"]?.members.first(where: { _ in true }),
      let claimed = try? JSON.object({ writer in
        writer.key(first.key)
        writer.write(first.value)
      })
    else { fatalError("a new device has keys to publish") }
    (self.keys, self.claimed) = (keys, claimed)
  }
}
