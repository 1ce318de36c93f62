import Testing

@testable import WebSockets

/// The client's side; the server's is tested over HTTP (HTTPServerTests).
@Suite struct FramingTests {
  @Test("A text goes out masked, and comes in whole however it is cut")
  func framing() throws {
    let framing = WebSocketFraming(.client, messageBytesLimit: 100, takesBinary: false)
    #expect(framing.queue(text: Array("Hello".utf8)))
    let out = framing.takeOutput()
    #expect(out.count == 11 && out[0] == 0x81 && out[1] == 0x85)
    #expect((0..<5).map { out[6 + $0] ^ out[2 + $0 % 4] } == Array("Hello".utf8))
    // RFC 6455 §5.7: "Hel" and "lo", with a ping between.
    let bytes: [UInt8] = [0x01, 3, 0x48, 0x65, 0x6c, 0x89, 0, 0x80, 2, 0x6c, 0x6f]
    var texts: [[UInt8]] = []
    for byte in bytes { texts += [byte].withUnsafeBytes { framing.receive($0) }.map(\.bytes) }
    #expect(texts == [Array("Hello".utf8)])
    #expect(framing.takeOutput().first == 0x8A)
    #expect(!framing.hasReadEnded)
  }

  @Test(
    "What is against the protocol ends the socket without harm",
    arguments: [
      [0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0x81, 101] + [UInt8](repeating: 65, count: 101), [0x82, 1, 0],
      [0xFF, 0xFF, 0xFF],
      [0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x88, 1, 0], [0x81, 1, 0xFF]
    ] as [[UInt8]])
  func breaches(_ bytes: [UInt8]) {
    let framing = WebSocketFraming(.client, messageBytesLimit: 100, takesBinary: false)
    #expect(bytes.withUnsafeBytes { framing.receive($0) }.isEmpty)
    #expect(framing.takeOutput().first == 0x88)
  }

  @Test func `arbitrary bytes never trap`() {
    var generator = SystemRandomNumberGenerator()
    // A text and a ping, masked as a client's are.
    let seed: [UInt8] = [0x81, 0x85, 1, 2, 3, 4] + Array("hello".utf8) + [0x89, 0x82, 1, 2, 3, 4, 5, 6]
    for _ in 0..<1500 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      let framing = WebSocketFraming(.server, messageBytesLimit: 4096)
      let piece = Int.random(in: 1...20, using: &generator)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        for message in bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes({ framing.receive($0) }) {
          _ = message.isText ? framing.queue(text: message.bytes) : framing.queue(binary: message.bytes)
        }
        _ = framing.takeOutput()
      }
    }
  }
}
