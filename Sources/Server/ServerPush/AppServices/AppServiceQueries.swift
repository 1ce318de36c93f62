import JSON
import MatrixModel
import Outbound
import Telemetry

/// Asks application services for users and rooms that they make on demand, and whether they are there.
///
/// Spec: Application Service API, "Querying" and "Pinging".
package final class AppServiceQueries: Sendable {
  /// A service's time to make what it is asked for.
  static let timeout = Duration.seconds(20)
  static let attempts = 3
  static let pingTimeout = Duration.seconds(30)

  private let services: AppServices
  private let http: HTTPClient
  private let log: Log

  package init(_ services: AppServices, http: HTTPClient, log: Log) {
    self.services = services
    self.http = http
    self.log = log
  }

  /// Has the services that `user` may belong to make them. Answers whether one says that they exist now.
  ///
  /// Throws `M_UNKNOWN` with the status 408 where a service does not answer.
  package func provide(_ user: UserID) async throws -> Bool {
    try await provide(services.all.filter { $0.covers(user) }, "users", user.text)
  }

  /// The same of a room by its alias.
  package func provide(_ alias: RoomAlias) async throws -> Bool {
    try await provide(services.all.filter { $0.covers(alias) }, "rooms", alias.text)
  }

  private func provide(_ services: [AppService], _ kind: String, _ name: ByteString) async throws -> Bool {
    let name = PercentEncoding.encode(name)
    for service in services where service.registration.url != nil {
      let path = AppServiceClient.Path(current: "/_matrix/app/v1/\(kind)/\(name)", legacy: "/\(kind)/\(name)")
      if try await ask(service, path) { return true }
    }
    return false
  }

  private func ask(_ service: AppService, _ path: AppServiceClient.Path) async throws -> Bool {
    let client = AppServiceClient(service: service, http: http)
    for _ in 0..<Self.attempts {
      do throws(OutboundError) {
        let answer = try await client.send("GET", path, timeout: Self.timeout)
        if answer.status < 500 { return (200..<300).contains(answer.status) }
      } catch {
        if error == .cancelled || error == .shutDown { throw CancellationError() }
        log.info("an application service did not answer", ["service": .text(service.id.string), "error": .text("\(error)")])
        // A service that is not running is not asked three times.
        if error == .cannotConnect { break }
      }
    }
    throw MatrixError.unknown(status: 408, "The application service that owns this did not answer; try again later.")
  }

  // MARK: Ping

  /// Calls a service as it asks to be. Answers how long it took, in milliseconds.
  ///
  /// Spec: `POST /_matrix/client/v1/appservice/{appserviceId}/ping`. Throws `AppServicePingError`.
  package func ping(_ service: AppService, transactionID: ByteString?) async throws -> Int64 {
    guard service.registration.url != nil else { throw AppServicePingError.noURL }
    var writer = JSONWriter()
    writer.object { writer in if let transactionID { writer.member("transaction_id", transactionID) } }
    let clock = ContinuousClock()
    let start = clock.now
    let answer: IncomingResponse
    do throws(OutboundError) {
      answer = try await AppServiceClient(service: service, http: http).send(
        "POST", AppServiceClient.Path(current: "/_matrix/app/v1/ping"), body: writer.bytes, timeout: Self.pingTimeout)
    } catch {
      throw error == .timedOut ? AppServicePingError.timedOut : .failed("\(error)")
    }
    guard (200..<300).contains(answer.status) else {
      throw AppServicePingError.badStatus(answer.status, String(decoding: answer.body.prefix(4_096), as: UTF8.self))
    }
    let (seconds, attoseconds) = (clock.now - start).components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}

/// Why a ping did not come back.
package enum AppServicePingError: Error, Sendable, Equatable {
  case noURL
  /// The service's status and the beginning of its answer.
  case badStatus(Int, String)
  case timedOut
  case failed(String)

  /// Spec: Client-Server API, `pingAppservice`.
  package var status: Int {
    switch self {
    case .noURL: 400
    case .badStatus, .failed: 502
    case .timedOut: 504
    }
  }

  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      switch self {
      case .noURL:
        writer.member("errcode", "M_URL_NOT_SET")
        writer.member("error", "The application service has no URL in its registration.")
      case .badStatus(let status, let body):
        writer.member("errcode", "M_BAD_STATUS")
        writer.member("error", "The application service answered with the status \(status).")
        writer.member("status", status)
        writer.member("body", body)
      case .timedOut:
        writer.member("errcode", "M_CONNECTION_TIMEOUT")
        writer.member("error", "The application service did not answer in time.")
      case .failed(let reason):
        writer.member("errcode", "M_CONNECTION_FAILED")
        writer.member("error", "The application service cannot be reached: \(reason).")
      }
    }
  }
}
