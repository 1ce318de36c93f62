import Testing
import WebSockets

@Suite struct ClientHandshakeTests {
  /// The example of RFC 6455 §1.3.
  private static func handshake() -> ClientHandshake {
    ClientHandshake(
      target: "/chat", authority: "server.example.com", headers: [("X-Answer", "42")], nonce: Array("the sample nonce".utf8))
  }
  private static let answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nconnection: keep-alive, Upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

  @Test("The handshake is the one of RFC 6455, and what follows the answer is the socket's")
  func opening() {
    var handshake = Self.handshake()
    let request = String(decoding: handshake.request, as: UTF8.self)
    #expect(request.hasPrefix("GET /chat HTTP/1.1\r\nHost: server.example.com\r\n") && request.hasSuffix("\r\n\r\n"))
    #expect(request.contains("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") && request.contains("\r\nX-Answer: 42\r\n"))
    let bytes = Array(Self.answer.utf8)
    for byte in bytes.dropLast() { #expect(handshake.receive([byte]) == .needsMore) }
    #expect(handshake.receive(bytes.suffix(1) + [0x81, 0]) == .open(rest: [0x81, 0]))
  }

  @Test(
    "An answer that is no upgrade is refused",
    arguments: [
      ("101", "200"), ("websocket", "h2c"), ("Upgrade\r\nSec", "close\r\nSec"), ("s3pP", "S3pP"),
      ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
    ])
  func refusing(_ old: String, _ new: String) {
    var handshake = Self.handshake()
    let answer = Self.answer.replacing(old, with: new)
    #expect(answer != Self.answer)
    #expect(handshake.receive(Array(answer.utf8)) == .refused)
  }

  @Test("An answer without an end is refused at its limit")
  func endless() {
    var handshake = Self.handshake()
    let bytes = [UInt8](repeating: 97, count: ClientHandshake.headBytesLimit)
    #expect(handshake.receive(bytes) == .needsMore)
    #expect(handshake.receive([97]) == .refused)
  }
}
