/// What is allowed but probably not meant.
extension Configuration {
  /// Whether other machines can reach the server, as far as the settings say. A `public_base_url` on this machine is for trying things out.
  var isReachable: Bool { !isLoopbackOnly || isBehindProxy && !hasLoopbackURL }

  private var hasLoopbackURL: Bool {
    guard let host = publicBaseURL?.split(separator: "/").dropFirst().first else { return false }
    let hasPort = host.contains(":") && !host.hasSuffix("]")
    return BindAddress(hasPort ? String(host) : "\(host):1")?.isLoopback == true
  }

  /// Sentences for the operator, the most serious first. `serve` logs them, `config check` prints them.
  var warnings: [String] { accountWarnings + addressWarnings + limitWarnings + clusterWarnings }

  /// Which address other machines use; nil if the server is for this machine only.
  var addressForOthers: String? {
    if let publicBaseURL { return "Other machines use \(publicBaseURL) (public_base_url)" }
    guard isReachable else { return nil }
    return "public_base_url is not set: clients keep the address by which they connect. Set it to the URL that people use"
  }

  private var accountWarnings: [String] {
    guard registration == .open, isReachable, !registrationOpenToEveryone else { return [] }
    let reason = publicBaseURL != nil ? "public_base_url" : "trusted_proxies"
    return [
      "registration is open and \(reason) is set: anyone on the Internet can create accounts. Set registration to token or "
        + "closed. If you want this, set registration_open_to_everyone to true"
    ]
  }

  private var addressWarnings: [String] {
    guard isReachable else { return [] }
    var warnings: [String] = []
    if serverName == "localhost" {
      warnings.append(
        "server_name is localhost, and it can never be changed once there are accounts. Set it to your domain first")
    }
    if let publicBaseURL, publicBaseURL.hasPrefix("http://") {
      warnings.append("public_base_url is http: passwords and messages cross the network readable for everyone. Use https")
    }
    if publicBaseURL?.hasPrefix("https://") == true, trustedProxies.isEmpty {
      warnings.append(
        "trusted_proxies is not set: all clients look like one address, that of the proxy, and share its rate limits. Set it to "
          + "the address of the proxy")
    }
    return warnings
  }

  private var limitWarnings: [String] {
    var warnings: [String] = []
    if uploadBytesLimit > media.userQuotaBytes {
      warnings.append("max_upload_bytes is more than media.user_quota_bytes, which refuses such files")
    }
    guard isReachable else { return warnings }
    if !rateLimits { warnings.append("rate_limits is false: nothing slows down someone who guesses passwords") }
    if passwordHash.memoryMiB < Self.leastPasswordMemoryMiB {
      warnings.append("password_hash.memory_mib is below \(Self.leastPasswordMemoryMiB), which OWASP recommends as the least")
    }
    return warnings
  }

  private var clusterWarnings: [String] {
    guard let bind = cluster.bind, bind.isLoopback else { return [] }
    return ["cluster.bind is \(bind): nodes on other machines cannot reach this one"]
  }

  /// OWASP, "Password Storage Cheat Sheet".
  private static let leastPasswordMemoryMiB = 19
}
