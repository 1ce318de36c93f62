import JSON
import MatrixModel
import Olm

extension OwnKeys {
  /// What others are shown of it.
  private static let dehydratedName: ByteString = "Dehydrated device"

  /// The body of `PUT /dehydrated_device`. The device's ID is its identity key.
  ///
  /// - Parameters:
  ///   - account: has the keys to publish.
  ///   - signer: the user's self-signing key.
  static func dehydratedUpload(
    of account: Account, _ user: UserID, _ sealed: DehydratedAccount, signedBy signer: Ed25519KeyPair
  ) -> [UInt8]? {
    guard let device = DeviceID(ByteString(decoding: account.identity.key.text)),
      let keys = deviceKeys(of: account, user, device, isDehydrated: true)?.signed(by: user, signer)
    else { return nil }
    let own = OwnKeys(user: user, device: device, account: account)
    return JSONWriter.object { writer in
      writer.member("device_id", device)
      writer.member("initial_device_display_name", dehydratedName)
      writer.key("device_data")
      writer.object { writer in
        writer.member("algorithm", Rehydration.algorithm)
        writer.member("device_pickle", base64: sealed.sealed)
        writer.member("nonce", base64: sealed.nonce)
      }
      writer.member("device_keys", keys)
      own.writeKeys(to: &writer)
    }
  }
}
