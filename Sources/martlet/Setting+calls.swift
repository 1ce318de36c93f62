import Addresses
import MediaRouter

extension Setting {
  /// The call server.
  static let calls: [Setting] = [
    .flag("calls.enabled", \.calls.isEnabled, "Whether this server has calls, and sessions for apps with an API key."),
    .one(
      "calls.bind", \.calls.bind,
      "Where sound and pictures of calls arrive, by UDP. Behind a reverse proxy it must be set: media does not go through it.",
      allowed: "host:port, such as 0.0.0.0:8008 or [::]:8008",
      defaultText: "the first address of bind, with the same number of port",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "calls.workers", \.calls.workers,
      "How many threads sound and pictures of calls go through. The first has the port of calls.bind, each further one the port after that of the "
        + "one before it: clients must reach all of them.",
      allowed: "a whole number from 1 to \(MediaWorkers.limit)",
      defaultText: "the number of processors less one, at least 1",
      parse: { text in Int(text).flatMap { (1...MediaWorkers.limit).contains($0) ? .some($0) : nil } },
      show: { $0.map { "\($0)" } }),
    .integer(
      "calls.home_transports", \.calls.homeTransports,
      "How many participants of one session share a thread of calls.workers; who comes then gets the thread with the fewest participants of all "
        + "sessions.",
      1...10_000),
    .flag(
      "calls.tcp", \.calls.takesTCP,
      "Whether calls.bind takes sound and pictures by TCP too, for networks that block UDP; not where one of its ports is that of bind or metrics_bind."
    ),
    .list(
      "calls.public_addresses", \.calls.publicAddresses,
      "The addresses by which clients reach calls.bind from outside, the best first. Needed behind address translation.",
      allowed: "an IP address", parse: { IPAddress($0) }, show: { $0.description }),
    .integer(
      "calls.recordings_quota_bytes", \.calls.recordingsQuotaBytes,
      "What all recordings of calls may take up together, in bytes: no recording begins beyond it, and one that would grow beyond it ends. 0 sets no "
        + "limit.",
      0...(1 << 50))
  ]
}
