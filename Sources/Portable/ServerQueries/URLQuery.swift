import JSON
import MatrixModel

/// The query of a request: empty, or `?` and its parameters, percent-encoded. What is nil is left out.
package struct URLQuery: Sendable {
  package private(set) var text = ""

  package init() {}

  package func adding(_ name: StaticString, _ value: ByteString?) -> URLQuery {
    guard let value else { return self }
    var query = self
    query.text += (text.isEmpty ? "?" : "&") + name.description + "=" + PercentEncoding.encode(value)
    return query
  }

  package func adding(_ name: StaticString, _ value: (some Identifier)?) -> URLQuery { adding(name, value?.text) }

  package func adding(_ name: StaticString, _ value: Int?) -> URLQuery {
    adding(name, value.map { ByteString("\($0)") })
  }

  package func adding(_ name: StaticString, _ value: Int64?) -> URLQuery {
    adding(name, value.map { ByteString("\($0)") })
  }

  package func adding(_ name: StaticString, _ value: Bool?) -> URLQuery {
    adding(name, value.map { $0 ? "true" : "false" } as ByteString?)
  }

  /// Names of the caller's own, as third-party networks have them.
  package func adding(fields: [(name: ByteString, value: ByteString)]) -> URLQuery {
    var query = self
    for field in fields {
      query.text +=
        (query.text.isEmpty ? "?" : "&") + PercentEncoding.encode(field.name) + "="
        + PercentEncoding.encode(field.value)
    }
    return query
  }
}
