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

extension JSONWriter {
  /// A member that is an array of objects: `body` writes the members of each.
  mutating func list<Elements: Sequence>(
    _ key: StaticString, _ elements: Elements, _ body: (Elements.Element, inout JSONWriter) -> Void
  ) {
    array(key, elements) { element, writer in writer.object { body(element, &$0) } }
  }
}
