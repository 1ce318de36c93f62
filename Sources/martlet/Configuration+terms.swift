import Database
import ServerCore
import ServerRooms

extension Configuration {
  /// Settings that each node has for itself, or for which it does not matter if nodes differ; a name with a dot at its end stands for a group.
  /// All others must be the same.
  private static let ownSettings = [
    "bind", "trusted_proxies", "web_dir", "data_dir", "database.", "cluster.", "bus.", "outbound.", "password_hash.",
    "metrics_bind",
    "log.", "shutdown.", "app_services", "jwt.public_key_file",
    "mail.smtp_url", "mail.starttls", "mail.user", "mail.password",
    "media.cache_bytes", "media.s3.addressing", "media.s3.access_key", "media.s3.secret_key",
    "media.s3.secret_key_file", "media.s3.ca_file",
    "calls.enabled", "calls.bind", "calls.workers", "calls.home_transports", "calls.tcp", "calls.public_addresses",
    "turn.bind", "turn.ports", "turn.allowed_networks", "turn.tls_bind", "turn.tls_certificate", "turn.tls_key",
    "turn.tls_host"
  ]

  /// Whether all nodes need the same value of a setting.
  static func mustAgree(_ name: String) -> Bool {
    !ownSettings.contains { $0.hasSuffix(".") ? name.hasPrefix($0) : name == $0 }
  }

  /// What all nodes must have alike. Hashes of settings are keyed with the signing key, which the database does not have, so nobody who reads them can
  /// try secrets. Keys are random, so nobody can try them: theirs are plain, and that of the signing key is its public part.
  ///
  /// - Parameter folder: has the keys already. Throws `SecretFileError`, and `failed` if a file that a setting names cannot be read.
  func terms(in folder: DataDirectory) throws -> NodeTerms {
    let signing = try SigningKeyFile(in: folder.path).key
    let key = KeyedHash.sha256.digest(of: Array("martlet.cluster.terms".utf8), key: Array(signing.line.string.utf8))
    var hashes: [String: String] = [:]
    func add(_ name: String, _ parts: [[UInt8]]) {
      let lengths = parts.map { "\($0.count)" }.joined(separator: " ")
      hashes[name] = KeyedHash.hexadecimal(KeyedHash.sha256.digest(of: Array(lengths.utf8) + parts.flatMap { $0 }, key: key))
    }
    for setting in Setting.all where Self.mustAgree(setting.name) {
      add(setting.name, setting.values(self).map { Array($0.utf8) })
    }
    add("single_sign_on", singleSignOn.flatMap { ["\($0)", $0.clientSecret?.reveal() ?? ""] }.map { Array($0.utf8) })
    // By whichever address each reaches it.
    add("bus.url", [Array((bus.url == nil ? "none" : "some").utf8)])
    add("app_services", try appServices.map { try AppServiceFile.bytes($0) })
    var keys = ["signing.key": KeyedHash.hexadecimal(signing.publicKey)]
    for file in ["call.key", "web-push.key"] {
      let bytes = try SecretFile.read("\(folder.path)/\(file)") ?? []
      keys[file] = KeyedHash.hexadecimal(KeyedHash.sha256.digest(of: bytes, key: Array("martlet.cluster.\(file)".utf8)))
    }
    return NodeTerms(keys: keys, settings: hashes)
  }
}
