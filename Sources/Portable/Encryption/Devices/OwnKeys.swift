import JSON
import MatrixModel
import Olm

/// The keys of this device, and which of them the server still has to get: its own once, one-time keys as they are handed out, and a fallback
/// key for when they are used up.
///
/// A value: store it after each call that changes it, before its upload is sent. A key that was made and not stored would be lost to those
/// who write with it. Spec: Client-Server API, "One-time and fallback keys".
package struct OwnKeys: Sendable {
  /// One-time keys that the server is to have, and how few make this side upload others.
  static let wantedKeys = 50, fewKeys = 25
  static let fallbackLifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000

  package let user: UserID
  package let device: DeviceID
  package var account: Account
  /// What the device says of itself. It goes with each message between devices, so it is signed once.
  let signedDeviceKeys: JSON?
  /// When the device began, in milliseconds since 1970: keys of earlier messages were not for it. nil in stores of earlier versions.
  var createdAt: Int64?
  /// Whether the server has the device's own keys.
  package private(set) var isDevicePublished = false
  /// One-time keys that the server has; nil until it has said so.
  private var keysAtServer: Int?
  /// Whether the server has handed out the fallback key.
  private(set) var isFallbackUsed = false
  /// When the fallback key was made, in milliseconds since 1970.
  private(set) var fallbackTime: Int64 = 0
  private var isUploading = false
  private var hasRenamed = false

  package init(user: UserID, device: DeviceID, account: Account) {
    self.user = user
    self.device = device
    self.account = account
    signedDeviceKeys = Self.deviceKeys(of: account, user, device)
  }

  /// As it was stored.
  init(
    user: UserID, device: DeviceID, account: Account, isDevicePublished: Bool, isFallbackUsed: Bool, fallbackTime: Int64
  ) {
    self.init(user: user, device: device, account: account)
    self.isDevicePublished = isDevicePublished
    self.isFallbackUsed = isFallbackUsed
    self.fallbackTime = fallbackTime
  }

  package var deviceKeys: DeviceKeys {
    DeviceKeys(user: user, device: device, identity: account.identity.key, signing: account.signing.key)
  }

  // MARK: What the server says

  /// From a sync or an upload.
  ///
  /// - Parameters:
  ///   - counts: `device_one_time_keys_count`. A server leaves a kind out that it has none of.
  ///   - unusedFallbacks: `device_unused_fallback_key_types`; nil where the answer has none.
  package mutating func told(counts: JSON?, unusedFallbacks: JSON?) {
    if let counts { keysAtServer = max(0, Int(clamping: counts[Algorithm.signedOneTimeKey]?.integer ?? 0)) }
    if let unusedFallbacks, account.fallbackKey?.isPublished ?? false {
      isFallbackUsed = !unusedFallbacks.elements.contains { $0.text == Algorithm.signedOneTimeKey }
    }
  }

  // MARK: Uploads

  /// The body of the next `/keys/upload`, if there is something to upload. Only one upload runs at a time. Keys that an earlier one had and that the
  /// server has not confirmed are in it again, the same ones.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func nextUpload(random: inout SecretSource, at now: Int64) -> [UInt8]? {
    guard !isUploading else { return nil }
    makeKeys(random: &random, at: now)
    let oneTimeKeys = account.oneTimeKeys.filter { !$0.isPublished }
    let fallback = account.fallbackKey.flatMap { $0.isPublished ? nil : $0 }
    guard !isDevicePublished || !oneTimeKeys.isEmpty || fallback != nil else { return nil }
    isUploading = true
    return JSONWriter.object { writer in
      if !isDevicePublished, let keys = signedDeviceKeys { writer.member("device_keys", keys) }
      writeKeys(oneTimeKeys, fallback, to: &writer)
    }
  }

  private mutating func makeKeys(random: inout SecretSource, at now: Int64) {
    let waiting = account.oneTimeKeys.count { !$0.isPublished }
    if let keysAtServer, keysAtServer + waiting < Self.fewKeys {
      account.makeOneTimeKeys(Self.wantedKeys - keysAtServer - waiting, random: &random)
    }
    let isOld = now - fallbackTime >= Self.fallbackLifetimeMilliseconds
    if account.fallbackKey == nil || account.fallbackKey?.isPublished ?? false && (isFallbackUsed || isOld) {
      account.replaceFallbackKey(random: &random)
      fallbackTime = now
      isFallbackUsed = false
    }
  }

  /// The server has taken the keys.
  ///
  /// - Parameter answer: its answer, which has the counts.
  package mutating func uploaded(_ answer: JSON) {
    isUploading = false
    isDevicePublished = true
    hasRenamed = false
    account.markKeysAsPublished()
    told(counts: answer["one_time_key_counts"], unusedFallbacks: nil)
  }

  /// There was no answer, or one that another try may change.
  package mutating func uploadFailed() { isUploading = false }

  /// The server says that it has other keys under these names: this side and the server do not agree on what was uploaded, as after a copy of
  /// the store came back. New ones get new names.
  ///
  /// - Returns: false if that happened to the new ones, too. Then the device cannot be written to, and people have to be told.
  package mutating func uploadRefused() -> Bool {
    isUploading = false
    guard !hasRenamed else { return false }
    hasRenamed = true
    account.forgetUnpublishedKeys()
    return true
  }

  // MARK: Writing

  static func deviceKeys(
    of account: Account, _ user: UserID, _ device: DeviceID, isDehydrated: Bool = false
  ) -> JSON? {
    let keys = try? JSON.object { writer in
      writer.member("user_id", user)
      writer.member("device_id", device)
      writer.array("algorithms", [Algorithm.olm, Algorithm.megolm]) { $1.write($0) }
      if isDehydrated { writer.member("dehydrated", true) }
      writer.key("keys")
      writer.object { writer in
        writer.key(ByteString("curve25519:" + device.string))
        writer.write(ByteString(decoding: account.identity.key.text))
        writer.key(DeviceKeys.keyID(of: device))
        writer.write(ByteString(decoding: account.signing.key.text))
      }
    }
    return keys?.signed(by: user, DeviceKeys.keyID(of: device), account.signing)
  }

  /// All one-time keys and the fallback key, signed.
  func writeKeys(to writer: inout JSONWriter) { writeKeys(account.oneTimeKeys, account.fallbackKey, to: &writer) }

  private func writeKeys(_ oneTimeKeys: [OneTimeKey], _ fallback: OneTimeKey?, to writer: inout JSONWriter) {
    if !oneTimeKeys.isEmpty { write(oneTimeKeys, "one_time_keys", isFallback: false, to: &writer) }
    if let fallback { write([fallback], "fallback_keys", isFallback: true, to: &writer) }
  }

  /// In the order in which they were made: the server hands out the oldest first.
  private func write(_ keys: [OneTimeKey], _ name: StaticString, isFallback: Bool, to writer: inout JSONWriter) {
    writer.key(name)
    writer.object { writer in
      for key in keys {
        let object = try? JSON.object { writer in
          writer.member("key", ByteString(decoding: key.pair.key.text))
          if isFallback { writer.member("fallback", true) }
        }
        guard let signed = object?.signed(by: user, DeviceKeys.keyID(of: device), account.signing) else { continue }
        writer.key(ByteString(Algorithm.signedOneTimeKey.string + ":" + String(decoding: key.name, as: UTF8.self)))
        writer.write(signed)
      }
    }
  }
}
