import JSON
import MatrixModel
import Testing

@Suite struct EndpointTests {
  @Test func `names in braces are replaced in order`() {
    #expect(
      Endpoint.sendMessage.path("!r:example.org", "m.room.message", "1")
        == "/_matrix/client/v3/rooms/%21r%3Aexample.org/send/m.room.message/1")
    #expect(Endpoint.createRoom.path() == "/_matrix/client/v3/createRoom")
  }

  @Test func `an empty state key ends the path with a slash`() {
    #expect(
      Endpoint.getRoomStateWithKey.path("!r", "m.room.name", "") == "/_matrix/client/v3/rooms/%21r/state/m.room.name/")
  }

  @Test func `a value cannot leave its segment`() {
    #expect(Endpoint.joinRoom.path("#a/../b?c#d%2F{x}") == "/_matrix/client/v3/join/%23a%2F..%2Fb%3Fc%23d%252F%7Bx%7D")
  }

  @Test(arguments: [
    ("azAZ09-._~", "azAZ09-._~"), (" ", "%20"), ("+", "%2B"), ("é", "%C3%A9"), ("🏠", "%F0%9F%8F%A0"),
    ("\0\u{7F}", "%00%7F"), ("", "")
  ])
  func `all but unreserved bytes are encoded`(text: String, encoded: String) {
    #expect(PercentEncoding.encode(ByteString(text)) == encoded)
  }
}
