import JSON
import MatrixModel
import Outbound
import RoomRules

/// Where a browser wants to be pushed to, and the keys with which only it can read that.
struct WebPushSubscription: Sendable {
  struct Keys: Sendable {
    /// `P256KeyPair.publicKeyBytes` bytes.
    let publicKey: [UInt8]
    /// 16 bytes.
    let authenticationSecret: [UInt8]
  }

  static let authenticationSecretBytes = 16

  let keys: Keys
  let url: ByteString
  let destinations: DestinationPolicy

  /// The subscription of a pusher. Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`. Spec: MSC4174.
  init(pushkey: ByteString, data: JSON, _ gateways: PushGatewayAddresses) throws(MatrixError) {
    guard let publicKey = Self.bytes(pushkey, P256KeyPair.publicKeyBytes), P256KeyPair.isPublicKey(publicKey) else {
      throw .invalidParameter(
        "'pushkey' of a Web Push pusher is a public key of P-256, uncompressed, in URL-safe Base64 without padding.")
    }
    guard let secret = Self.bytes(try data.requiredText("auth"), Self.authenticationSecretBytes) else {
      throw .invalidParameter("'auth' in 'data' is \(Self.authenticationSecretBytes) bytes in URL-safe Base64 without padding.")
    }
    url = try data.requiredText("url")
    guard let destinations = gateways.destination(ofPushResource: url) else {
      throw .invalidParameter("'url' in 'data' is an https URL of a push service in the public Internet.")
    }
    self.destinations = destinations
    keys = Keys(publicKey: publicKey, authenticationSecret: secret)
  }

  /// nil for other lengths, the other alphabet and padding: one key is one pusher.
  private static func bytes(_ text: ByteString, _ count: Int) -> [UInt8]? {
    guard let bytes = UnpaddedBase64.decode(text.utf8), bytes.count == count,
      UnpaddedBase64.encode(bytes, .urlSafe).elementsEqual(text.utf8)
    else { return nil }
    return bytes
  }
}
