import Addresses

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
    .list(
      "calls.public_addresses", \.calls.publicAddresses,
      "The addresses by which clients reach calls.bind from outside, the best first. Needed behind address translation.",
      allowed: "an IP address", parse: { IPAddress($0) }, show: { $0.description })
  ]
}
