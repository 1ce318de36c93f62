import JSON
import MatrixModel
import Olm

/// A stored event of which more may be known now than when it was decrypted.
package struct UnprovenEvent: Sendable {
  /// By which it is found again in its record. The ID alone is the server's word.
  struct Name: Hashable {
    let id: EventID
    let sender: UserID
    let identity: Curve25519Key
  }

  package let id: EventID
  package let sender: UserID
  /// Of the device that has sent the event.
  package let identity: Curve25519Key
  package let trust: SenderTrust?

  var name: Name { Name(id: id, sender: sender, identity: identity) }

  /// nil for all others.
  init?(_ json: JSON) {
    guard let mark = json[EncryptedAnswer.mark], mark.bool("proven") ?? false, let identity = mark.curve25519Key("sender_key"),
      let id = EventID(json["event_id"]), let sender = UserID(json["sender"])
    else { return nil }
    let trust = SenderTrust(name: mark.text("trust"))
    guard trust != .verified, trust != .pinned else { return nil }
    self.id = id
    self.sender = sender
    self.identity = identity
    self.trust = trust
  }
}
