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
}
