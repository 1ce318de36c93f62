/// The running homeserver: what `serve` starts and stops.
struct Server: Sendable {
  /// Where it listens, as URLs for people: `http://localhost:8008`.
  let addresses: [String]

  /// Opens the database in `directory`, listens on `bind` and `metrics_bind`, and returns when both accept connections. Throws `failed` or `address`.
  static func start(
    _ configuration: Configuration, in directory: DataDirectory, pages: OperationsPages
  ) async throws(StartError) -> Server {
    throw .failed("this build has no HTTP server yet")
  }

  /// Accepts nothing new, lets open requests finish within ten seconds, closes the database.
  func stop() async {}
}
