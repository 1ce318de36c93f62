import Glibc
import Testing

@testable import Addresses

@Suite struct IPAddressTests {
  @Test(
    "a numeric address is read and written",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
      ("::1", "::1"), ("[::1]", "::1"), ("[1.2.3.4]", "1.2.3.4"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
      ("::ffff:1.2.3.4", "::ffff:1.2.3.4"), ("::ffff:102:304", "::ffff:1.2.3.4"),
      ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    ])
  func reading(_ text: String, _ written: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == written)
    #expect(IPAddress(address.description) == address)
  }

  @Test(
    "anything else is no address",
    arguments: [
      "", "[]", "[", "[::1", "::1]", "[[::1]]", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.1", "2130706433", "localhost",
      "1.2.3.4:80",
      "1.2.3.4\0", "\0", " 1.2.3.4", "::1%lo", ":::", "12345::", String(repeating: "1", count: 1_000)
    ])
  func noAddress(_ text: String) { #expect(IPAddress(text) == nil) }

  @Test("the first byte stands in front")
  func number() throws {
    #expect(try #require(IPAddress("1.2.3.4")).number == 0x0102_0304)
    #expect(try #require(IPAddress("2001:db8::1")).number == 0x2001_0DB8 << 96 | 1)
    #expect(try #require(IPAddress("0.0.0.1")) != #require(IPAddress("::1")))
  }

  @Test("a mapped address and its IPv4 address lead to each other, others to themselves")
  func mapping() throws {
    let v4 = try #require(IPAddress("1.2.3.4"))
    let mapped = try #require(IPAddress("::ffff:1.2.3.4"))
    #expect(v4.mapped == mapped && mapped.unmapped == v4 && mapped.isMapped && !v4.isMapped)
    #expect(v4.unmapped == v4 && mapped.mapped == mapped)
    for text in ["::1.2.3.4", "::fffe:1.2.3.4", "1::ffff:1.2.3.4", "::1:ffff:1.2.3.4", "::ffff:0:1.2.3.4"] {
      let other = try #require(IPAddress(text))
      #expect(other.unmapped == other && other.mapped == other && !other.isMapped)
    }
  }

  @Test(
    "loopback is 127.0.0.0/8 and ::1",
    arguments: [
      ("127.0.0.0", true), ("127.255.255.255", true), ("126.255.255.255", false), ("128.0.0.0", false), ("::1", true),
      ("::", false),
      ("::2", false), ("0.0.0.1", false)
    ])
  func loopback(_ text: String, _ expected: Bool) throws { #expect(try #require(IPAddress(text)).isLoopback == expected) }

  @Test("the system's form is read whole or not at all")
  func system() throws {
    let v4 = try #require(IPAddress("1.2.3.4"))
    let v6 = try #require(IPAddress("2001:db8::5"))
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_addr = v4.inet4
    var six = sockaddr_in6()
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_addr = v6.inet6
    var local = sockaddr_un()
    local.sun_family = sa_family_t(AF_UNIX)
    withUnsafeBytes(of: four) { bytes in
      #expect(IPAddress(system: bytes.baseAddress!, count: bytes.count) == v4)
      for count in 0..<bytes.count { #expect(IPAddress(system: bytes.baseAddress!, count: count) == nil) }
    }
    withUnsafeBytes(of: six) { bytes in
      #expect(IPAddress(system: bytes.baseAddress!, count: bytes.count) == v6)
      for count in 0..<bytes.count { #expect(IPAddress(system: bytes.baseAddress!, count: count) == nil) }
    }
    withUnsafeBytes(of: local) { #expect(IPAddress(system: $0.baseAddress!, count: $0.count) == nil) }
  }
}
