import JSON
import MatrixModel
import Testing

private func filled(_ bytes: Int, _ prefix: String, _ suffix: String = "") -> String {
  prefix + String(repeating: "x", count: bytes - prefix.utf8.count - suffix.utf8.count) + suffix
}

@Suite struct UserIDTests {
  @Test(arguments: [
    "@alice:example.org", "@:example.org", "@Älice 1!:example.org:8448", "@a\n\u{1}:[::1]", "@a:1.2.3.4:80", "@@a:b"
  ])
  func `what was ever valid is accepted`(text: String) throws {
    let id = try #require(UserID(text))
    #expect(id.string == text)
    #expect(id.localpart.string + ":" + id.serverName.string == String(text.dropFirst()))
  }

  @Test(arguments: [
    "", "@", "alice:example.org", "@alice", "@alice:", "@a:b:c:d", "@a:exa mple", "@a:b:", "@a:b:123456", "@a:b:8x",
    "@a\0:b", "!a:b", "@a:[::1", "@a:ü"
  ])
  func `what never was is refused`(text: String) {
    #expect(UserID(text) == nil)
  }

  @Test func `the whole has at most 255 bytes`() {
    #expect(UserID(filled(255, "@", ":d")) != nil)
    #expect(UserID(filled(256, "@", ":d")) == nil)
    #expect(UserID(filled(254, "@ü", ":d")).map { $0.text.count } == 254)
    let server = ServerName(trusted: "d")
    #expect(UserID(localpart: ByteString(filled(252, "a")), server: server) != nil)
    #expect(UserID(localpart: ByteString(filled(253, "a")), server: server) == nil)
    #expect(UserID(localpart: "a:b", server: server) == nil)
  }

  @Test(arguments: ["a", "a-z0_9.=/+", "1"]) func `localparts for new accounts`(text: String) {
    #expect(UserID.isAllowedLocalpart(ByteString(text)))
  }

  @Test(arguments: ["", "A", "ä", "a b", "a:b", "a!", "a\u{0}", "a@b"]) func `localparts no new account may have`(
    text: String
  ) {
    #expect(!UserID.isAllowedLocalpart(ByteString(text)))
  }

  @Test func `comparison is by bytes`() throws {
    let composed = try #require(UserID("@\u{E9}:d"))
    let decomposed = try #require(UserID("@e\u{301}:d"))
    #expect(composed.string == decomposed.string)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
    #expect(UserID(trusted: "@B:d") < UserID(trusted: "@a:d"))
    #expect(UserID("@a:D") != UserID("@a:d"))
  }

  @Test func `other JSON is no user ID`() throws {
    let json = try JSON.parse(Array(#"["@a:b",1,null,"a"]"#.utf8))
    #expect(json.elements.map { UserID($0) } == [UserID(trusted: "@a:b"), nil, nil, nil])
    #expect(UserID(nil as JSON?) == nil)
  }
}

@Suite struct RoomIdentifierTests {
  @Test func `room IDs have a server name or none`() throws {
    #expect(try #require(RoomID("!abc:example.org:1")).serverName == ServerName("example.org:1"))
    #expect(try #require(RoomID("!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM")).serverName == nil)
    for text in ["", "!", "#a:b", "a", "!a\0b"] { #expect(RoomID(text) == nil) }
    #expect(RoomID(filled(255, "!")) != nil && RoomID(filled(256, "!")) == nil)
  }

  @Test func `aliases have a localpart and a server name`() throws {
    let alias = try #require(RoomAlias("#ein Zimmer 🏠:example.org"))
    #expect(alias.localpart == "ein Zimmer 🏠" && alias.serverName.string == "example.org")
    for text in ["", "#", "#a", "#a:", "!a:b", "#a:b c"] { #expect(RoomAlias(text) == nil) }
    #expect(RoomAlias(filled(255, "#", ":d")) != nil && RoomAlias(filled(256, "#", ":d")) == nil)
  }

  @Test func `event IDs are opaque`() {
    #expect(EventID("$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg") != nil)
    #expect(EventID("$1:example.org") != nil)
    for text in ["", "$", "a", "!a", "$\0"] { #expect(EventID(text) == nil) }
    #expect(EventID(filled(255, "$")) != nil && EventID(filled(256, "$")) == nil)
  }

  @Test func `event types and transaction IDs end at 255 bytes`() {
    #expect(EventType(filled(255, "t")) != nil && EventType(filled(256, "t")) == nil)
    #expect(
      TransactionID(filled(255, "t")) != nil && TransactionID(filled(256, "t")) == nil && TransactionID("") == nil)
    #expect(DeviceID(filled(255, "D")) != nil && DeviceID(filled(256, "D")) == nil)
    #expect(DeviceID("") == nil && DeviceID("a\0") == nil)
  }
}

@Suite struct ServerNameTests {
  /// Appendices, "Server Name".
  @Test(arguments: [
    "matrix.org", "matrix.org:8888", "1.2.3.4", "1.2.3.4:1234", "[1234:5678::abcd]", "[1234:5678::abcd]:5678", "a",
    "A-1", "localhost:1"
  ])
  func `the grammar's names`(text: String) {
    #expect(ServerName(text)?.string == text)
  }

  @Test(arguments: [
    "", ":", ":80", "a:", "a:b", "a:123456", "a b", "a/b", "a_b", "é", "[]", "[:]x", "[::1", "::1", "[::g]", "a:80:80",
    "a\0", "http://a"
  ])
  func `other names`(text: String) {
    #expect(ServerName(text) == nil)
  }

  @Test func `lengths on both sides`() {
    #expect(ServerName(filled(253, "a")) != nil && ServerName(filled(254, "a")) == nil)
    #expect(ServerName("[" + String(repeating: "1", count: 45) + "]") != nil)
    #expect(ServerName("[" + String(repeating: "1", count: 46) + "]") == nil)
    #expect(ServerName("[::]") != nil)
  }
}

@Suite struct MediaURITests {
  @Test func `parts`() throws {
    let uri = try #require(MediaURI("mxc://example.org:80/Ab_-9"))
    #expect(uri.serverName.string == "example.org:80" && uri.mediaID == "Ab_-9")
    #expect(MediaURI(server: uri.serverName, mediaID: uri.mediaID) == uri)
  }

  @Test(arguments: [
    "", "mxc://", "mxc://a", "mxc://a/", "mxc:///b", "mxc://a/b/c", "mxc://a/b.c", "mxc://a/../c", "mxc://a/é",
    "http://a/b", "mxc://a/b?c", "MXC://a/b"
  ])
  func `other URIs`(text: String) {
    #expect(MediaURI(text) == nil)
  }

  @Test func `the whole has at most 512 bytes`() {
    #expect(MediaURI(filled(512, "mxc://a/")) != nil && MediaURI(filled(513, "mxc://a/")) == nil)
  }
}

@Suite struct MediaURIStepTests {
  @Test(arguments: [
    "mxc://../x", "mxc://./x", "mxc://a/../x", "mxc://a/.", "mxc:///x", "mxc://a/", "mxc://a/x/y", "mxc://a/%2e%2e",
    "mxc://a/x?y"
  ])
  func `no URI of a file leads to another path`(text: String) { #expect(MediaURI(text) == nil) }

  @Test(arguments: ["mxc://a.b/x", "mxc://.../x", "mxc://a/x_-9"]) func `others do not`(text: String) {
    #expect(MediaURI(text) != nil)
  }
}
