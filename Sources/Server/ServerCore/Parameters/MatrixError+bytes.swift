import JSON
import MatrixModel

extension MatrixError {
  /// The standard error response, for a row that keeps an error.
  package var bytes: [UInt8] {
    var writer = JSONWriter(capacity: 128)
    write(to: &writer)
    return writer.bytes
  }
}
