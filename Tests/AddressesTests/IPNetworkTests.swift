import Testing

@testable import Addresses

@Suite struct IPNetworkTests {
  @Test(
    "a network is an address with 0 to 32 or 128 bits",
    arguments: [
      ("1.2.3.4", "1.2.3.4", 32), ("1.2.3.4/32", "1.2.3.4", 32), ("10.0.0.0/8", "10.0.0.0", 8), ("0.0.0.0/0", "0.0.0.0", 0),
      ("10.0.0.0/31", "10.0.0.0", 31), ("fc00::/7", "fc00::", 7), ("fd00::/127", "fd00::", 127), ("::1/128", "::1", 128),
      ("::1", "::1", 128), ("[::1]", "::1", 128), ("::/0", "::", 0), ("::ffff:10.0.0.0/96", "::ffff:10.0.0.0", 96)
    ])
  func reading(_ text: String, _ address: String, _ bits: Int) throws {
    let network = try #require(IPNetwork(text))
    #expect(network.address.description == address && network.prefixBits == bits)
    #expect(network.description == text)
  }

  @Test(
    "anything else is no network",
    arguments: [
      "", "/8", "1.2.3.4/", "1.2.3.4/33", "10.0.0.0/33", "::1/129", "fd00::/129", "1.2.3.4/+8", "1.1.1.1/-1", "10.0.0.0/a",
      "1.2.3/8",
      "10.0.0/8", "x/8", "example.org", "1.2.3.4/8/8", "1.2.3.4/0008", "::ffff:1.2.3.4/95", "::ffff:1.2.3.4/8"
    ])
  func noNetwork(_ text: String) { #expect(IPNetwork(text) == nil) }

  @Test(
    "a network contains what begins like it, of its own family",
    arguments: [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("1.2.3.4", "1.2.3.4", true),
      ("1.2.3.4", "1.2.3.5", false), ("0.0.0.0/0", "9.9.9.9", true), ("0.0.0.0/0", "::1", false), ("fd00::/8", "fdff::1", true),
      ("fd00::/8", "fe00::1", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
      ("2001:db8::/65", "2001:db8:0:0:8000::", false), ("::/0", "ffff::1", true), ("::/0", "1.1.1.1", false),
      ("::ffff:0:0/96", "::ffff:1.1.1.1", true), ("::ffff:0:0/96", "1.1.1.1", false), ("10.9.9.9/8", "10.0.0.1", true)
    ])
  func contains(_ network: String, _ address: String, _ expected: Bool) throws {
    #expect(try #require(IPNetwork(network)).contains(#require(IPAddress(address))) == expected)
  }
}
