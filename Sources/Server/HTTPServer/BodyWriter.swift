/// Takes a streamed response's body piece by piece.
package struct BodyWriter: Sendable {
  let connection: HTTPConnection
  let exchange: UInt64

  /// Sends bytes and suspends while more than `outputHighWaterBytes` are unsent.
  ///
  /// - Throws: `HTTPError.clientGone`; `.wrongBodyLength` when the announced length would be exceeded; `CancellationError`.
  package func write(_ bytes: [UInt8]) async throws {
    try await connection.writeBody(bytes, exchange: exchange)
  }
}
