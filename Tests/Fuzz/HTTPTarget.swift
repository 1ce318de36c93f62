import HTTPServer

/// Feeds arbitrary bytes in arbitrary pieces to a connection's protocol logic, to its router and to WebSocket framing.
func fuzzHTTP(_ bytes: UnsafeRawBufferPointer) {
  HTTPFuzzing.run(bytes)
}
