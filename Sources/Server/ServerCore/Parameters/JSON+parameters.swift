import JSON
import MatrixModel

/// Parameters in a JSON body. One that is absent or null counts as not given; one of another kind throws `M_BAD_JSON`.
extension JSON {
  package func given(_ key: StaticString) -> JSON? {
    guard let value = self[key], !value.isNull else { return nil }
    return value
  }

  package func optionalText(_ key: StaticString) throws(MatrixError) -> ByteString? {
    guard let value = given(key) else { return nil }
    guard let text = value.text else { throw .badJSON("'\(key)' is not a string.") }
    return text
  }

  /// Throws `M_MISSING_PARAM`.
  package func requiredText(_ key: StaticString) throws(MatrixError) -> ByteString {
    guard let text = try optionalText(key) else { throw .missingParameter(key.description) }
    return text
  }

  package func optionalBool(_ key: StaticString) throws(MatrixError) -> Bool? {
    guard let value = given(key) else { return nil }
    guard let bool = value.bool else { throw .badJSON("'\(key)' is neither true nor false.") }
    return bool
  }

  package func requiredBool(_ key: StaticString) throws(MatrixError) -> Bool {
    guard let bool = try optionalBool(key) else { throw .missingParameter(key.description) }
    return bool
  }

  package func optionalInteger(_ key: StaticString) throws(MatrixError) -> Int64? {
    guard let value = given(key) else { return nil }
    guard let integer = value.integer else { throw .badJSON("'\(key)' is not an integer.") }
    return integer
  }

  package func optionalObject(_ key: StaticString) throws(MatrixError) -> JSON? {
    guard let value = given(key) else { return nil }
    guard value.isObject else { throw .badJSON("'\(key)' is not an object.") }
    return value
  }

  /// Throws `M_MISSING_PARAM`.
  package func requiredObject(_ key: StaticString) throws(MatrixError) -> JSON {
    guard let object = try optionalObject(key) else { throw .missingParameter(key.description) }
    return object
  }

  package func optionalArray(_ key: StaticString) throws(MatrixError) -> JSON? {
    guard let value = given(key) else { return nil }
    guard value.isArray else { throw .badJSON("'\(key)' is not an array.") }
    return value
  }

  /// Throws `M_MISSING_PARAM`.
  package func requiredArray(_ key: StaticString) throws(MatrixError) -> JSON {
    guard let array = try optionalArray(key) else { throw .missingParameter(key.description) }
    return array
  }

  /// An identifier; one that does not fit its grammar throws `M_INVALID_PARAM`.
  package func optionalIdentifier<ID: Identifier>(_ key: StaticString, as type: ID.Type = ID.self) throws(MatrixError)
    -> ID?
  {
    guard let text = try optionalText(key) else { return nil }
    guard let id = ID(text) else { throw .invalidParameter("'\(key)' is not valid.") }
    return id
  }

  /// Throws `M_MISSING_PARAM` and `M_INVALID_PARAM`.
  package func requiredIdentifier<ID: Identifier>(_ key: StaticString, as type: ID.Type = ID.self) throws(MatrixError)
    -> ID
  {
    guard let id = try optionalIdentifier(key, as: type) else { throw .missingParameter(key.description) }
    return id
  }
}
