import Addresses
import MediaRouter

extension Setting {
  /// The call server.
  static let calls: [Setting] = [
    .flag("calls.enabled", \.calls.isEnabled, "Whether the server offers calls, and sessions for apps with an API key."),
    .one(
      "calls.bind", \.calls.bind,
      "The address on which the server accepts the audio and video of calls, by UDP. Set it if there is a reverse proxy: media does not go through the proxy.",
      allowed: "host:port, such as 0.0.0.0:8008 or [::]:8008",
      defaultText: "the first address of bind, with the same port number",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "calls.workers", \.calls.workers,
      "The number of threads that forward audio and video. The first uses the port of calls.bind, and each further thread uses the next port. "
        + "Clients must be able to reach all these ports.",
      allowed: "a whole number from 1 to \(MediaWorkers.limit)",
      defaultText: "the number of processors minus 1, from 1 to \(MediaWorkers.limit)",
      parse: { text in Int(text).flatMap { (1...MediaWorkers.limit).contains($0) ? .some($0) : nil } },
      show: { $0.map { "\($0)" } }),
    .integer(
      "calls.home_transports", \.calls.homeTransports,
      "How many participants of a session share the session's first thread of calls.workers. Later participants get the thread with the fewest "
        + "participants of all sessions.",
      1...10_000),
    .flag(
      "calls.tcp", \.calls.takesTCP,
      "Whether calls.bind accepts audio and video by TCP too, for networks that block UDP. It has no effect if calls.bind shares a port with bind, "
        + "metrics_bind, turn.bind or turn.tls_bind. So set calls.bind to another port."
    ),
    .list(
      "calls.public_addresses", \.calls.publicAddresses,
      "The addresses by which clients reach calls.bind from outside, the best first. If the list is empty, clients get the addresses of this machine. "
        + "Set it if the server is behind address translation (NAT).",
      allowed: "an IP address", parse: { IPAddress($0) }, show: { $0.description }),
    .integer(
      "calls.recordings_quota_bytes", \.calls.recordingsQuotaBytes,
      "The space for all recordings of calls together, in bytes. Half of it is for all projects together. Each project has an equal share of the "
        + "other half. If a project has no space left, its recordings end and no new one starts. 0 means no limit.",
      0...(1 << 50))
  ]
}
