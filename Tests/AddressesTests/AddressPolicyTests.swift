import Testing

@testable import Addresses

@Suite struct AddressPolicyTests {
  static let blocked = [
    "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
    "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "192.175.48.1", "198.18.0.0", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
    "2002:7f00:1::", "2002:c0a8:101::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "fc00::1", "fdff::1", "fe80::1",
    "febf::1", "fec0::1", "ff02::1", "4000::1", "1fff::1"
  ]

  static let open = [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
    "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.114.0", "223.255.255.255",
    "2001:200::1", "2001:4860:4860::8888", "2606:4700::1", "2a00::1", "3ffe:ffff::1", "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1", "2002:101:101::1", "2620:4f:8001::1", "2001:db7::1", "2001:db9::1"
  ]

  @Test("an address that only the server can reach is not public", arguments: blocked)
  func isBlocked(_ text: String) throws {
    #expect(!AddressPolicy().permits(try #require(IPAddress(text))))
  }

  @Test("the address on the other side of each border is public", arguments: open)
  func isOpen(_ text: String) throws {
    #expect(AddressPolicy().permits(try #require(IPAddress(text))))
  }

  @Test("an allowed network is reached, in a mapping too, and nothing beside it")
  func allowedNetwork() throws {
    let policy = AddressPolicy(allowed: [try #require(IPNetwork("10.1.0.0/16"))])
    for text in ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3"] {
      #expect(policy.permits(try #require(IPAddress(text))), "\(text)")
    }
    for text in ["10.0.255.255", "10.2.0.0", "::ffff:10.2.0.1"] {
      #expect(!policy.permits(try #require(IPAddress(text))), "\(text)")
    }
  }

  @Test("a denied network is not reached even where it is allowed")
  func deniedNetwork() throws {
    let policy = AddressPolicy(
      allowed: [try #require(IPNetwork("1.0.0.0/8"))], denied: [try #require(IPNetwork("1.1.1.0/24"))])
    #expect(policy.permits(try #require(IPAddress("1.1.2.1"))))
    #expect(!policy.permits(try #require(IPAddress("1.1.1.1"))))
    #expect(!policy.permits(try #require(IPAddress("::ffff:1.1.1.1"))))
  }
}
