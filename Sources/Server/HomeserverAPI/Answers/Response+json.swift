import HTTPServer
import JSON

extension Response {
  /// JSON written by `body`, one value.
  package static func json(status: Status = .ok, capacity: Int = 256, _ body: (inout JSONWriter) throws -> Void)
    rethrows
    -> Response
  {
    var writer = JSONWriter(capacity: capacity)
    try body(&writer)
    return .json(writer.bytes, status: status)
  }

  /// `{}`: what most commands answer.
  package static let emptyObject = Response.json(Array("{}".utf8))
}
