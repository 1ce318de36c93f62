import JSON
import MatrixModel
import Olm

extension DeviceKeys {
  /// The one-time or fallback key of this device in an answer of `/keys/claim`, if the device has signed it; nil otherwise: then the device is
  /// left out of the message.
  ///
  /// - Parameter answer: `one_time_keys` of the answer. Spec: Client-Server API, "One-time and fallback keys".
  package func claimedKey(in answer: JSON) -> Curve25519Key? {
    let prefix = Array((Algorithm.signedOneTimeKey.string + ":").utf8)
    for member in answer[user.text]?[device.text]?.members.map({ $0 }) ?? [] where member.key.utf8.starts(with: prefix) {
      guard member.value.isSigned(by: user, DeviceKeys.keyID(of: device), signing) else { continue }
      return member.value.curve25519Key("key")
    }
    return nil
  }
}
