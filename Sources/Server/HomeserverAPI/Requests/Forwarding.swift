import Database
import HTTPServer
import Outbound
import ServerCore
import Synchronization

/// Has a request answered by the node that remembers what it needs: the same request goes there, by the network of the nodes, with the client's own
/// token. A forwarded request is not forwarded again.
///
/// The node's answer is taken whole. Who sends the header without being a node gains nothing: a client is told that its session has ended.
package struct Forwarding: Sendable {
  private static let mark: StaticString = "Martlet-Forwarded"
  /// Longer than a sliding sync may wait.
  private static let timeout = Duration.seconds(150)
  private static let responseBytesLimit = 64 << 20
  /// What belongs to a connection, or is said anew by the node that the client has asked.
  private static let ownHeaders: Set<String> = [
    "connection", "keep-alive", "transfer-encoding", "content-length", "date", "host", "expect", "accept-encoding",
    "x-forwarded-for"
  ]

  private let database: Database
  private let http: HTTPClient

  package init(_ database: Database, _ http: HTTPClient) {
    self.database = database
    self.http = http
  }

  /// Whether another node has sent the request here, which is not to be sent on.
  package static func isForwarded(_ request: Request) -> Bool { request.headers.contains(mark) }

  /// What a node says to another for a client.
  package static func headers(for peer: SocketAddress) -> [(name: String, value: String)] {
    [(mark.description, "1"), ("X-Forwarded-For", peer.address)]
  }

  /// The handler, for a server with other nodes; as it is, for one without.
  package func around(_ handler: @escaping Handler) -> Handler {
    guard database.isNode else { return handler }
    return { request in
      var request = request
      let body = KeptBody()
      request.context[KeptBody.Key.self] = body
      do { return try await handler(request) } catch let elsewhere as Elsewhere {
        return try await answer(to: request, body, elsewhere)
      }
    }
  }

  private func answer(to request: Request, _ body: KeptBody, _ elsewhere: Elsewhere) async throws -> Response {
    guard !Self.isForwarded(request), let address = try await database.nodeAddress(of: elsewhere.run) else {
      throw elsewhere.otherwise
    }
    var headers = Self.headers(for: request.peer)
    for header in request.headers where !Self.ownHeaders.contains(header.name.lowercased()) { headers.append(header) }
    let forwarded = OutgoingRequest(
      request.method.description, url: "http://\(address)\(request.target)", headers: headers, body: body.bytes ?? [],
      timeout: Self.timeout, responseBytesLimit: Self.responseBytesLimit, destinations: .any)
    let answer: IncomingResponse
    do throws(OutboundError) { answer = try await http.send(forwarded) } catch {
      // It has ended, or cannot be reached: what it remembered is lost for this client.
      throw elsewhere.otherwise
    }
    var response = Response(status: Status(answer.status), body: .bytes(answer.body))
    for (name, value) in answer.headers
    where !Self.ownHeaders.contains(name) && !name.hasPrefix("access-control-") && name != "content-encoding" {
      response.headers.add(name, value)
    }
    return response
  }
}

/// The body of a request that has been read, for the node to which it is forwarded.
package final class KeptBody: Sendable {
  package enum Key: ContextKey { package typealias Value = KeptBody }

  private let kept = Mutex<[UInt8]?>(nil)

  package var bytes: [UInt8]? { kept.withLock { $0 } }

  package func keep(_ bytes: [UInt8]) { kept.withLock { $0 = bytes } }
}
