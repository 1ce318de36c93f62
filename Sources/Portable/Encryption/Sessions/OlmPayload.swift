import JSON
import MatrixModel
import Olm

/// What an Olm message says: an event for one device, with the keys of both sides, so that a message that was meant for another device, or was
/// written by another, is told. Spec: Client-Server API, "m.olm.v1.curve25519-aes-sha2".
package struct OlmPayload: Sendable {
  package let type: ByteString
  package let content: JSON
  package let sender: UserID
  /// The device that has written it: its keys are proven by its own signature, whose it is by nothing yet. nil where the user's list does not have
  /// it and the message did not bring its keys.
  package let device: DeviceKeys?
  package let identity: Curve25519Key
  package let signing: Ed25519Key

  /// The bytes that are encrypted.
  static func write(_ type: ByteString, _ content: JSON, from own: OwnKeys, to device: DeviceKeys) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("type", type)
      writer.member("content", content)
      writer.member("sender", own.user)
      writer.member("recipient", device.user)
      write(device.signing, "recipient_keys", to: &writer)
      write(own.account.signing.key, "keys", to: &writer)
      if let keys = own.signedDeviceKeys { writer.member("sender_device_keys", keys) }
    }
  }

  private static func write(_ key: Ed25519Key, _ name: StaticString, to writer: inout JSONWriter) {
    writer.key(name)
    writer.object { $0.member("ed25519", ByteString(decoding: key.text)) }
  }

  /// - Parameters:
  ///   - sender: who has sent the event, as the server says.
  ///   - identity: the key of the session that the message was in.
  init(
    _ json: JSON, from sender: UserID, by identity: Curve25519Key, to own: OwnKeys, knowing tracker: DeviceTracker
  ) throws(OlmRefusal) {
    guard let type = json.text("type"), let content = json["content"], content.isObject,
      let signing = json["keys"]?.ed25519Key("ed25519")
    else { throw .malformed }
    guard json.text("sender") == sender.text else { throw .wrongSender }
    guard json.text("recipient") == own.user.text, json["recipient_keys"]?.ed25519Key("ed25519") == own.account.signing.key
    else { throw .wrongRecipient }
    self.type = type
    self.content = content
    self.sender = sender
    self.identity = identity
    self.signing = signing
    device = try Self.device(json, sender, identity, signing, tracker)
  }

  private static func device(
    _ json: JSON, _ sender: UserID, _ identity: Curve25519Key, _ signing: Ed25519Key, _ tracker: DeviceTracker
  ) throws(OlmRefusal) -> DeviceKeys? {
    if let known = tracker.devices(of: sender).first(where: { $0.identity == identity }) {
      // A dehydrated device has no client that could have written it.
      guard known.signing == signing, !known.isDehydrated else { throw .wrongKeys }
      return known
    }
    guard let brought = json["sender_device_keys"] else { return nil }
    guard let id = DeviceID(brought["device_id"]), let keys = try? DeviceKeys(brought, of: sender, id),
      keys.identity == identity,
      keys.signing == signing, !keys.isDehydrated
    else { throw .wrongKeys }
    return keys
  }
}

/// Why an Olm message is not taken. Nothing has changed then: no session is kept of it, and no one-time key is used up.
package enum OlmRefusal: Error, Equatable, Sendable {
  case malformed
  case unknownAlgorithm
  /// There is nothing in it for this device.
  case notForThisDevice
  /// No session opens it, or it was opened before.
  case undecryptable(OlmError)
  /// It says that another user has written it.
  case wrongSender
  /// It was written for another user or device.
  case wrongRecipient
  /// The keys that it names are not those of the device that the session is with.
  case wrongKeys
}
