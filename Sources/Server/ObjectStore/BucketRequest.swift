/// One request to the bucket's service.
struct BucketRequest: Sendable {
  /// For metrics.
  enum Operation: String, CaseIterable { case put, get, head, delete, list }

  let method: String
  let operation: Operation
  /// nil for the bucket itself.
  let key: String?
  var query: [(name: String, value: String)]
  /// Names in lower case.
  var headers: [(name: String, value: String)] = []
  var body = Bucket.Content.bytes([])
  /// What of the body's content is sent.
  var range: Range<Int64> = 0..<0
  /// SHA-256 of what is sent; nil if it is not known.
  var payload: String?
  var answerBytesLimit = Bucket.answerBytesLimit
  /// Bytes of the answer that are expected, if they are many.
  var expectedBytes = 0
  /// How often it is sent at most.
  var tries: Int

  init(_ method: String, of operation: Operation, _ key: String?, query: [(name: String, value: String)] = [], tries: Int = 4) {
    self.method = method
    self.operation = operation
    self.key = key
    self.query = query
    self.tries = tries
  }

  /// For everything, at the least speed that a bucket should have.
  var timeout: Duration { .seconds(10 + max(range.count, expectedBytes) / Self.leastBytesPerSecond) }

  private static let leastBytesPerSecond = 256 << 10
}
