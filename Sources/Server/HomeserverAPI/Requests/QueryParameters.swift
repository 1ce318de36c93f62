import HTTPServer
import JSON
import MatrixModel

/// The parameters in a request's query. Every accessor answers nil for one that is absent and throws `M_INVALID_PARAM` for
/// one of another kind.
package struct QueryParameters: Sendable {
  private let query: Query

  init(_ query: Query) throws {
    guard !query.isMalformed else { throw MatrixError.invalidParameter("The query is not percent-encoded UTF-8.") }
    self.query = query
  }

  package func text(_ name: StaticString) -> ByteString? { query[name.description].map { ByteString($0) } }

  /// Throws `M_MISSING_PARAM`.
  package func required(_ name: StaticString) throws -> ByteString {
    guard let text = text(name) else { throw MatrixError.missingParameter(name.description) }
    return text
  }

  /// Every value of a parameter that may repeat.
  package func all(_ name: StaticString) -> [ByteString] { query.all(name.description).map { ByteString($0) } }

  /// Every parameter but the access token, which is nobody else's affair.
  package func allButToken() -> [(name: ByteString, value: ByteString)] {
    query.items.compactMap { $0.key == "access_token" ? nil : (ByteString($0.key), ByteString($0.value)) }
  }

  package func bool(_ name: StaticString) throws -> Bool? {
    guard let text = text(name) else { return nil }
    if text == "true" { return true }
    if text == "false" { return false }
    throw MatrixError.invalidParameter("'\(name)' is neither true nor false.")
  }

  /// How many elements a page has at most: `limit`, from 1 on.
  package func pageLimit() throws -> Int? { try integer("limit", in: 1...Int64.max).map { Int(clamping: $0) } }

  package func integer(_ name: StaticString, in range: ClosedRange<Int64> = 0...Int64.max) throws -> Int64? {
    guard let text = text(name) else { return nil }
    guard let value = Int64(text.string), range.contains(value) else {
      throw MatrixError.invalidParameter("'\(name)' is not a number in the range allowed.")
    }
    return value
  }

  package func identifier<ID: Identifier>(_ name: StaticString, as type: ID.Type = ID.self) throws -> ID? {
    guard let text = text(name) else { return nil }
    guard let id = ID(text) else { throw MatrixError.invalidParameter("'\(name)' is not valid.") }
    return id
  }
}
