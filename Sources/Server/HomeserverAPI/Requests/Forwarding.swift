import Database
import HTTPServer
import MatrixModel
import Outbound
import ServerCore
import Synchronization
import Telemetry

/// Has a request answered by the node that remembers what it needs: the same request goes there, by the network of the nodes, with the client's own
/// token. A forwarded request is not forwarded again.
///
/// The node's answer is taken whole. Who sends the header without being a node gains nothing: a client is told that its session has ended.
package struct Forwarding: Sendable {
  private static let mark: StaticString = "Martlet-Forwarded"
  /// Longer than a sliding sync may wait.
  private static let timeout = Duration.seconds(150)
  private static let responseBytesLimit = 64 << 20
  /// Of an upload, what is handed on at once.
  private static let pieceBytes = 4 << 20
  /// What belongs to a connection, or is said anew by the node that the client has asked.
  private static let ownHeaders: Set<String> = [
    "connection", "keep-alive", "transfer-encoding", "content-length", "date", "host", "expect", "accept-encoding",
    "x-forwarded-for"
  ]

  private static let count = Metrics.process.counter(
    "martlet_cluster_forwards_total", "Requests that another node was asked to answer, each piece of an upload counted.",
    labels: ["outcome"])

  private let database: Database
  private let http: HTTPClient
  private let answered = Self.count.labelled("answered"), failed = Self.count.labelled("failed")

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
    guard !Self.isForwarded(request), let node = try await database.nodeContact(of: elsewhere.run) else {
      throw elsewhere.otherwise
    }
    let way = Way(request: request, address: node.address, elsewhere: elsewhere)
    if body.bytes == nil, let part = request.headers.first("Content-Range").flatMap({ ContentRange($0) }) {
      return try await send(part, by: way)
    }
    return try await send(body.bytes ?? [], by: way)
  }

  private struct Way {
    let request: Request
    let address: String
    let elsewhere: Elsewhere
  }

  /// Hands a part of an upload on in pieces, each as a part of its own: little of it is in memory, and what has come stays if the client's connection
  /// is lost.
  private func send(_ part: ContentRange, by way: Way) async throws -> Response {
    var chunks = way.request.body.makeAsyncIterator()
    var held: [UInt8] = []
    var (begin, isOver) = (part.range.lowerBound, false)
    while true {
      while held.count <= Self.pieceBytes, !isOver {
        if let chunk = try await chunks.next() { held += chunk } else { isOver = true }
      }
      let piece = Array(held.prefix(Self.pieceBytes))
      held.removeFirst(piece.count)
      let end = begin + Int64(piece.count)
      guard end <= part.range.upperBound else {
        throw MatrixError.invalidParameter("'Content-Range' does not say what the body has.")
      }
      let range = piece.isEmpty ? "*" : "\(begin)-\(end - 1)"
      let response = try await send(piece, by: way, replacing: ("Content-Range", "bytes \(range)/\(part.size)"))
      guard response.status == .ok, !(isOver && held.isEmpty) else { return response }
      begin = end
    }
  }

  private func send(
    _ body: [UInt8], by way: Way, replacing own: (name: String, value: String)? = nil
  ) async throws -> Response {
    let request = way.request
    var headers = Self.headers(for: request.peer)
    for header in request.headers where !Self.ownHeaders.contains(header.name.lowercased()) {
      if header.name.lowercased() != own?.name.lowercased() { headers.append(header) }
    }
    if let own { headers.append(own) }
    let forwarded = OutgoingRequest(
      request.method.description, url: "http://\(way.address)\(request.target)", headers: headers, body: body,
      timeout: Self.timeout, responseBytesLimit: Self.responseBytesLimit, destinations: .any)
    let answer: IncomingResponse
    do throws(OutboundError) { answer = try await http.send(forwarded) } catch {
      failed.add()
      // It has ended, or cannot be reached: what it remembered is lost for this client.
      throw way.elsewhere.otherwise
    }
    answered.add()
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
