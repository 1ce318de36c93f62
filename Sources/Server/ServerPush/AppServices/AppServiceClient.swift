import JSON
import MatrixModel
import Outbound
import Telemetry

/// Requests to one application service.
///
/// Spec: Application Service API, "Homeserver -> Application Service API".
struct AppServiceClient: Sendable {
  /// Where an older service may serve the same. Spec: "Legacy routes".
  struct Path: Sendable {
    let current: String
    var legacy: String?
  }

  /// Bytes of an answer that are looked at.
  static let answerBytesLimit = 1 << 20

  let service: AppService
  let http: HTTPClient

  /// Throws `.invalidURL` for a service without one.
  ///
  /// A path that the service says it does not know is asked for by its legacy name: after 404, 405 and 501. (An error of a
  /// path it knows, 500, would be the same error under the other name, or the same events once more.)
  func send(
    _ method: String, _ path: Path, query: [(name: ByteString, value: ByteString)] = [], body: [UInt8]? = nil,
    timeout: Duration
  ) async throws(OutboundError) -> IncomingResponse {
    let answer = try await send(method, path.current, query, body, timeout)
    guard let legacy = path.legacy, [404, 405, 501].contains(answer.status) else { return answer }
    let token = [(name: ByteString("access_token"), value: ByteString(service.registration.serverToken))]
    let older = try await send(method, legacy, query + token, body, timeout)
    return (200..<300).contains(older.status) ? older : answer
  }

  private func send(
    _ method: String, _ path: String, _ query: [(name: ByteString, value: ByteString)], _ body: [UInt8]?,
    _ timeout: Duration
  ) async throws(OutboundError) -> IncomingResponse {
    guard let base = service.registration.url else { throw .invalidURL }
    var url = base + path
    for (index, parameter) in query.enumerated() {
      url += (index == 0 ? "?" : "&") + PercentEncoding.encode(parameter.name) + "="
      url += PercentEncoding.encode(parameter.value)
    }
    var headers = [("Authorization", "Bearer " + service.registration.serverToken)]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    return try await http.send(
      OutgoingRequest(
        method, url: url, headers: headers.map { (name: $0.0, value: $0.1) }, body: body ?? [], timeout: timeout,
        responseBytesLimit: Self.answerBytesLimit, destinations: .any))
  }
}
