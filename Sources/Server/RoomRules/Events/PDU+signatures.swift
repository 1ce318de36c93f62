import JSON
import MatrixModel

extension PDU {
  /// The event's signatures: they cover the redacted event.
  package var signatures: SignedJSON {
    SignedJSON(json, signedBytes: version.redaction.redacted(json, type: type, leavingOut: ["signatures"]))
  }

  /// The servers that must have signed: the sender's, except for an invitation by third-party token, and the server of the
  /// user who authorised the join of a restricted room.
  ///
  /// Spec: Server-Server API, "Validating hashes and signatures on received events".
  package var requiredSigners: [ServerName] {
    let membership = type == .member ? Membership(content["membership"]) : nil
    var servers: [ServerName] = []
    if !(membership == .invite && content["third_party_invite"] != nil) { servers.append(sender.serverName) }
    if membership == .join, version.hasRestrictedJoins,
      let authoriser = UserID(content["join_authorised_via_users_server"]),
      !servers.contains(authoriser.serverName)
    {
      servers.append(authoriser.serverName)
    }
    return servers
  }

  /// Whether every required server signed with a key that the caller vouches for.
  ///
  /// - Parameter publicKey: the key of a server by its ID, nil where it is unknown or was not valid at
  ///   `originServerTimestamp` (room versions 5 on, "Signing key validity period").
  package func isSigned(publicKey: (ServerName, ByteString) -> [UInt8]?) -> Bool {
    let signatures = signatures
    return requiredSigners.allSatisfy { server in
      signatures.keyIDs(of: server.text).contains { keyID in
        guard let key = publicKey(server, keyID) else { return false }
        return signatures.isSigned(by: server.text, keyID: keyID, publicKey: key)
      }
    }
  }
}
