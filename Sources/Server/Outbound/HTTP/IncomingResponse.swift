/// The answer of another server.
package struct IncomingResponse: Sendable {
  /// 200...599.
  package let status: Int
  /// Of the last answer, in the order received; names in lower case.
  package let headers: [(name: String, value: String)]
  /// Decompressed.
  package let body: [UInt8]
  /// Where the answer came from after redirects.
  package let url: String
  /// Whether there was more than the request wanted to have.
  package let isTruncated: Bool

  /// The first header of that name, which is in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
