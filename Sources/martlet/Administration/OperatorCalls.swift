import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Asks the server's own router, in this process and as the operator.
struct OperatorCalls: Sendable {
  /// A request as it goes through the socket: `{"method":…,"target":…,"body":…}`.
  struct Call: Sendable {
    let method: Method
    /// Path and query.
    let target: String
    let body: [UInt8]?

    init(_ method: Method, _ target: String, _ body: [UInt8]? = nil) {
      self.method = method
      self.target = target
      self.body = body
    }

    /// nil for bytes that are no call.
    init?(_ bytes: [UInt8]) {
      guard let json = try? JSON.parse(bytes), let name = json["method"]?.string, let target = json["target"]?.string,
        let method = Method.allCases.first(where: { $0.description == name }), target.hasPrefix("/")
      else { return nil }
      self.init(method, target, json["body"].map { Array($0.bytes) })
    }

    var bytes: [UInt8] {
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("method", method.description)
        writer.member("target", target)
        if let body { writer.member("body", raw: body) }
      }
      return writer.bytes
    }
  }

  struct Answer: Sendable {
    let status: Int
    let body: [UInt8]
  }

  /// Bytes of a call.
  static let callBytesLimit = 2 << 20

  let router: Router
  let key: AccessToken

  func answer(_ call: Call) async -> Answer {
    let response = await router.respond(
      to: Request(
        call.method, call.target, headers: [(name: "Authorization", value: "Bearer \(key.text)")], body: call.body ?? []))
    let body: [UInt8] =
      switch response.body {
      case .bytes(let bytes): bytes
      case .parts(let parts): Array(parts.joined())
      default: []
      }
    return Answer(status: Int(response.status.code), body: body)
  }
}
