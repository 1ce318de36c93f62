/// Why a key, a message or a record is refused. A call that throws one has changed nothing.
package enum OlmError: Error, Equatable, Sendable {
  /// The bytes do not have the format, or are longer than its limit.
  case malformed
  /// The bytes are of a version of the format that this module does not know.
  case unknownVersion
  /// The message was changed on its way, or is for another key.
  case wrongMAC
  /// The signature does not fit the bytes and the key.
  case wrongSignature
  /// The key is a point of small order: everyone knows what is agreed with it.
  case weakKey
  /// The message has another sender's identity key than the one it is said to be from.
  case wrongSender
  /// The message begins another session, or a session that has to receive first is to send.
  case wrongSession
  /// The one-time or fallback key is not the account's, or was used up.
  case unknownOneTimeKey
  /// The message was decrypted before, or lies before what the keys still reach.
  case unreachableIndex
  /// The message lies further ahead than `ReceivingChain.gapLimit`.
  case tooFarAhead
  /// The last index of the ratchet is never used: after it the ratchet would repeat itself.
  case exhausted
}
