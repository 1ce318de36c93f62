import Synchronization

/// An S3-compatible service with one bucket, whose objects are in memory. It does not look at signatures.
package final class ObjectServer: Sendable {
  package static let bucket = "bucket"

  private final class State: Sendable {
    let objects = Mutex<[String: [UInt8]]>([:])
    let hook = Mutex<(@Sendable (_ method: String, _ key: String) -> Void)?>(nil)
  }

  private let server: LoopbackServer
  private let state = State()

  package init() {
    server = LoopbackServer { [state] server, connection in
      var bytes: [UInt8] = []
      while let request = Self.request(from: connection, &bytes) {
        server.note("\(request.method) \(request.key)")
        connection.write(Self.answer(request, state))
        state.hook.withLock { $0 }?(request.method, request.key)
      }
    }
  }

  package var endpoint: String { "http://127.0.0.1:\(server.port)" }
  package func close() { server.close() }

  /// What was asked for: the method and the key, in order.
  package var requests: [String] { server.notes }

  package var keys: [String] { state.objects.withLock { $0.keys.sorted() } }
  package func remove(_ key: String) { state.objects.withLock { $0[key] = nil } }
  package func set(_ key: String, to bytes: [UInt8]) { state.objects.withLock { $0[key] = bytes } }

  /// Calls `body` when a request has been answered.
  package func afterEach(_ body: @escaping @Sendable (_ method: String, _ key: String) -> Void) {
    state.hook.withLock { $0 = body }
  }

  private struct Request {
    let method, key, query: String
    let range: ClosedRange<Int>?
    let body: [UInt8]
  }

  private static func request(from connection: LoopbackServer.Connection, _ bytes: inout [UInt8]) -> Request? {
    let end = Array("\r\n\r\n".utf8)
    func headEnd() -> Int? { bytes.indices.first { bytes[$0...].starts(with: end) } }
    while headEnd() == nil {
      let more = connection.read()
      if more.isEmpty { return nil }
      bytes += more
    }
    let start = headEnd()! + 4
    let lines = String(decoding: bytes[..<start], as: UTF8.self).split(separator: "\r\n")
    func header(_ name: String) -> String? {
      lines.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
    }
    let count = header("content-length").flatMap { Int($0) } ?? 0
    while bytes.count < start + count { bytes += connection.read() }
    let body = Array(bytes[start..<start + count])
    bytes.removeFirst(start + count)
    let words = lines[0].split(separator: " ")
    let target = words[1].split(separator: "?", maxSplits: 1)
    let numbers = header("range")?.dropFirst(6).split(separator: "-").compactMap { Int($0) }
    return Request(
      method: String(words[0]), key: String(target[0].dropFirst(bucket.utf8.count + 2)),
      query: target.count > 1 ? String(target[1]) : "", range: numbers.flatMap { $0.count == 2 ? $0[0]...$0[1] : nil },
      body: body)
  }

  private static func answer(_ request: Request, _ state: State) -> [UInt8] {
    func answer(_ status: Int, _ body: [UInt8] = [], length: Int? = nil) -> [UInt8] {
      Array("HTTP/1.1 \(status) x\r\nContent-Length: \(length ?? body.count)\r\n\r\n".utf8) + body
    }
    return state.objects.withLock { objects in
      switch request.method {
      case "PUT":
        objects[request.key] = request.body
        return answer(200)
      case "DELETE":
        objects[request.key] = nil
        return answer(204, length: 0)
      case "GET" where request.key.isEmpty:
        let prefix = request.query.split(separator: "&").first { $0.hasPrefix("prefix=") }?.dropFirst(7) ?? ""
        let wanted = prefix.split(separator: "%2F", omittingEmptySubsequences: false).joined(separator: "/")
        let found = objects.filter { $0.key.hasPrefix(wanted) }.sorted { $0.key < $1.key }
        let list = found.map { "<Contents><Key>\($0.key)</Key><Size>\($0.value.count)</Size></Contents>" }.joined()
        return answer(200, Array("<ListBucketResult>\(list)<IsTruncated>false</IsTruncated></ListBucketResult>".utf8))
      default:
        guard let object = objects[request.key] else { return answer(404) }
        if request.method == "HEAD" { return answer(200, length: object.count) }
        guard let range = request.range else { return answer(200, object) }
        guard range.lowerBound < object.count else { return answer(416) }
        return answer(206, Array(object[range.lowerBound...min(range.upperBound, object.count - 1)]))
      }
    }
  }
}
