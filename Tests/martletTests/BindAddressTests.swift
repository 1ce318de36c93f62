import Glibc
import Testing

@testable import martlet

@Suite("Bind addresses")
struct BindAddressTests {
  @Test(
    "IPv4, IPv6 in brackets and names are read and written back",
    arguments: [
      ("127.0.0.1:8008", "127.0.0.1", 8008, true), ("127.9.9.9:1", "127.9.9.9", 1, true),
      ("0.0.0.0:0", "0.0.0.0", 0, false),
      ("[::1]:65535", "::1", 65535, true), ("[::]:80", "::", 80, false), ("localhost:80", "localhost", 80, true),
      ("chat.example.org:443", "chat.example.org", 443, false), ("128.0.0.1:80", "128.0.0.1", 80, false)
    ])
  func valid(text: String, host: String, port: UInt16, isLoopback: Bool) throws {
    let address = try #require(BindAddress(text))
    #expect(address == BindAddress(host: host, port: port))
    #expect(address.description == text)
    #expect(address.isLoopback == isLoopback)
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "", ":", ":80", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
      "127.0.0.1: 80",
      "127.0.0:80", "1.2.3.4.5:80", "256.1.1.1:80", "::1:80", "[::1]", "[::1:80", "[]:80", "[127.0.0.1]:80", "a b:80",
      "a/b:80", "é:80"
    ])
  func invalid(text: String) {
    #expect(BindAddress(text) == nil)
  }

  @Test("A taken port is named together with its setting")
  func takenPort() throws {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        #expect(bind(file, $0, length) == 0)
        #expect(listen(file, 1) == 0)
        #expect(getsockname(file, $0, &length) == 0)
      }
    }
    let taken = BindAddress(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port))
    #expect(throws: StartError.address(setting: "bind", taken, reason: "Address already in use")) {
      try taken.checkUsable(setting: "bind")
    }
    try BindAddress(host: "127.0.0.1", port: 0).checkUsable(setting: "bind")
    try BindAddress(host: "localhost", port: 0).checkUsable(setting: "bind")
  }

  @Test("An address that this machine does not have is refused")
  func foreignAddress() {
    #expect(throws: StartError.self) { try BindAddress(host: "192.0.2.1", port: 0).checkUsable(setting: "bind") }
  }
}
