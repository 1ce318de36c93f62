import JSON
import MatrixModel
import Olm

/// Decides which requests of the user's other devices for secrets are answered. Spec: Client-Server API, "Sharing".
package struct SecretAnswers: Sendable {
  package struct Request: Equatable, Sendable {
    package let name: SecretName
    package let device: DeviceKeys
    let id: ByteString

    /// The content of `m.secret.send`, which goes encrypted to the device.
    package func content(_ value: Secret) throws(JSONError) -> JSON {
      try JSON.object { writer in
        writer.member("request_id", id)
        writer.member("secret", base64: value.exposed())
      }
    }
  }

  /// How long after the user has verified a device its requests are answered.
  package static let patienceMilliseconds: Int64 = 15 * 60 * 1_000

  /// When the user verified a device here, in milliseconds since 1970.
  private(set) var verified: [Ed25519Key: Int64] = [:]

  package init() {}

  package mutating func noteVerification(of device: DeviceKeys, at now: Int64) { note(device.signing, at: now) }

  private mutating func note(_ device: Ed25519Key, at now: Int64) {
    verified = verified.filter { $1 > now - Self.patienceMilliseconds }
    verified[device] = now
  }

  /// As it was stored.
  mutating func restore(_ device: Ed25519Key, at time: Int64) { verified[device] = max(0, time) }

  /// Returns what is asked for if the device may have it.
  ///
  /// - Parameters:
  ///   - content: of `m.secret.request`.
  ///   - isAlwaysAllowed: whether verified devices get secrets also long after they were verified.
  package func request(
    _ content: JSON, from sender: UserID, knowing tracker: DeviceTracker, _ trust: Trust, isAlwaysAllowed: Bool = false,
    at now: Int64
  ) -> Request? {
    guard content.text("action") == "request", let name = content.text("name").flatMap({ SecretName($0) }),
      let id = content.text("request_id"), id.count <= EncryptionLimits.requestIDBytes,
      let device = DeviceID(content["requesting_device_id"]).flatMap({ tracker.device($0, of: sender) })
    else { return nil }
    // A clock that was set back does not open the time again.
    let isRecent = verified[device.signing].map { (0..<Self.patienceMilliseconds).contains(now - $0) } ?? false
    // The signature that was made of it here may not be in the list yet.
    guard isRecent ? trust.mayBeVerifiedOwn(device) : isAlwaysAllowed && trust.isVerifiedOwn(device) else { return nil }
    return Request(name: name, device: device, id: id)
  }
}
