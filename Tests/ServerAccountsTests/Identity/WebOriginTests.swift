import Testing

@testable import ServerAccounts

@Suite struct WebOriginTests {
  @Test(
    "a URL leads to its scheme, host and port, or to an application",
    arguments: [
      ("https://app.example.org", "https://app.example.org"), ("HTTPS://App.Example.org/x?y#z", "https://app.example.org"),
      ("https://app.example.org:443/", "https://app.example.org"), ("http://localhost:80", "http://localhost"),
      ("http://localhost:8080/#/a", "http://localhost:8080"), ("https://[::1]:8448/", "https://[::1]:8448"),
      ("https://[::1]/", "https://[::1]"), ("https://a.b?c@d", "https://a.b"), ("https://a.b#@d", "https://a.b"),
      ("element:/callback", "element:"), ("org.example.app://x/y", "org.example.app:")
    ])
  func origin(_ url: String, _ origin: String) { #expect(WebOrigin(of: url)?.description == origin) }

  @Test(
    "anything that a browser may take for something else is no origin",
    arguments: [
      "", "/", "//evil.example", "app.example.org", "https:", "https:/a", "https://", "https:///a", "https://a@b",
      "https://a:b@c", "https://a\\@b", "https:\\\\a", "https://a b", "https://a\n", "https://a:x", "https://a:123456",
      "https://a:b:1", "https://[::1", "https://::1/", "https://ü.example", "javascript:alert(1)", "JavaScript:alert(1)",
      "data:text/html,x", "blob:https://a", "file:///etc", "about:blank", "vbscript:x", "1a:x", " https://a",
      "https://a;b", "https://a'b", "https://a/\u{7F}", "https://a/" + String(repeating: "x", count: 4_096)
    ])
  func noOrigin(_ url: String) { #expect(WebOrigin(of: url) == nil) }

  @Test("a client is trusted by its origin, whatever its path, and by nothing like it")
  func trust() throws {
    var configuration = IdentityConfiguration()
    configuration.publicBaseURL = "https://matrix.example.org/base"
    configuration.trustedClients = [try #require(WebOrigin(of: "https://app.example.org"))]
    for url in ["https://app.example.org/a", "https://APP.example.org:443", "https://matrix.example.org/"] {
      #expect(configuration.trusts(url), "\(url)")
    }
    for url in [
      "http://app.example.org", "https://app.example.org:8443", "https://app.example.org.evil.example",
      "https://evil.example/https://app.example.org", "https://app.example.org@evil.example", "javascript:1"
    ] {
      #expect(!configuration.trusts(url), "\(url)")
    }
  }

  @Test(
    "the login token comes behind the query and before the fragment, once",
    arguments: [
      ("https://a", "https://a?loginToken=t%2B1"), ("https://a/?", "https://a/?loginToken=t%2B1"),
      ("https://a/?b=c#d?e", "https://a/?b=c&loginToken=t%2B1#d?e"), ("https://a/#/x", "https://a/?loginToken=t%2B1#/x"),
      ("https://a?loginToken=x&b=1&loginToken", "https://a?b=1&loginToken=t%2B1"), ("app://x", "app://x?loginToken=t%2B1")
    ])
  func redirect(_ url: String, _ expected: String) { #expect(RedirectURL.adding(loginToken: "t+1", to: url) == expected) }
}
