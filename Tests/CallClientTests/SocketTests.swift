import Testing

@testable import CallClient

@Suite struct SocketTests {
  @Test("A server's address leads to its socket, and a socket's to itself")
  func addresses() throws {
    let server = try #require(SocketAddress("https://example.org"))
    #expect(server.isSecure && server.host == "example.org" && server.port == 443)
    #expect(server.target == SocketAddress.path && server.authority == "example.org")
    let socket = try #require(SocketAddress("ws://localhost:8008/calls?a=b"))
    #expect(!socket.isSecure && socket.target == "/calls?a=b" && socket.authority == "localhost:8008")
    #expect(try #require(SocketAddress("WSS://[::1]:9/x")).connectionURL == "https://[::1]:9/")
  }

  @Test(
    "An invalid server address is refused",
    arguments: [
      "", "example.org", "ftp://example.org", "https://", "https://a b", "https://example.org:70000", "https://example.org:0",
      "ws://a\r\nHost: b", "https://name:word@example.org", "https://" + String(repeating: "a", count: SocketAddress.bytesLimit)
    ])
  func noAddresses(_ url: String) { #expect(SocketAddress(url) == nil) }

  /// The example of RFC 6455 §1.3.
  private static func handshake() throws -> SocketHandshake {
    SocketHandshake(try #require(SocketAddress("ws://server.example.com/chat")), nonce: Array("the sample nonce".utf8))
  }
  private static let answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nconnection: keep-alive, Upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

  @Test("The handshake is the one of RFC 6455, and what follows the answer is the socket's")
  func opening() throws {
    var handshake = try Self.handshake()
    let request = String(decoding: handshake.request, as: UTF8.self)
    #expect(request.hasPrefix("GET /chat HTTP/1.1\r\nHost: server.example.com\r\n") && request.hasSuffix("\r\n\r\n"))
    #expect(request.contains("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
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
  func refusing(_ old: String, _ new: String) throws {
    var handshake = try Self.handshake()
    let answer = Self.answer.replacing(old, with: new)
    #expect(answer != Self.answer)
    #expect(handshake.receive(Array(answer.utf8)) == .refused)
  }

  @Test("An answer without an end is refused at its limit")
  func endless() throws {
    var handshake = try Self.handshake()
    let bytes = [UInt8](repeating: 97, count: SocketHandshake.headBytesLimit)
    #expect(handshake.receive(bytes) == .needsMore)
    #expect(handshake.receive([97]) == .refused)
  }
}
