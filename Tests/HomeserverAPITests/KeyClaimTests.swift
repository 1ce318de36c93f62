import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct KeyClaimTests {
  @Test func `a hundred claims at once get a hundred different keys, and then the fallback key`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let keys = (0..<100).map { #""curve:\#($0)":"k\#($0)""# }.joined(separator: ",")
      _ = try await fixture.call(
        .post, "keys/upload", as: ann, #"{"one_time_keys":{\#(keys)},"fallback_keys":{"curve:F":"f"}}"#)
      let body = #"{"one_time_keys":{"@ann:example.org":{"\#(ann.deviceID)":"curve"}}}"#
      let claimed = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<110 {
          group.addTask {
            let answer = try await fixture.call(.post, "keys/claim", as: bob, body)
            let keys = answer.json["one_time_keys"]?["@ann:example.org"]?[ann.deviceID.text]
            return try #require(keys?.members.first(where: { _ in true })?.key.string)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let fallbacks = claimed.filter { $0 == "curve:F" }
      #expect(fallbacks.count == 10)
      #expect(Set(claimed).count == 101)
    }
  }

  @Test func `an upload that is repeated gives out no key twice, and a new key may have an old name`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func upload(_ keys: String) async throws -> Int64? {
        let answer = try await fixture.call(.post, "keys/upload", as: ann, #"{"one_time_keys":{\#(keys)}}"#)
        return answer.json["one_time_key_counts"]?["curve"]?.integer
      }
      func claim() async throws -> String? {
        let body = #"{"one_time_keys":{"@ann:example.org":{"\#(ann.deviceID)":"curve"}}}"#
        let answer = try await fixture.call(.post, "keys/claim", as: ann, body)
        let keys = answer.json["one_time_keys"]?["@ann:example.org"]?[ann.deviceID.text]
        return keys?.members.first { _ in true }.map { "\($0.key.string)=\($0.value.string ?? "")" }
      }
      #expect(try await upload(#""curve:1":"a","curve:2":"b""#) == 2)
      #expect(try await claim() == "curve:1=a")
      #expect(try await upload(#""curve:1":"a","curve:2":"b""#) == 1)
      #expect(try await claim() == "curve:2=b")
      #expect(try await claim() == nil)
      #expect(try await upload(#""curve:1":"c""#) == 1)
      #expect(try await claim() == "curve:1=c")
      let census = fixture.homeserver.deviceLists.census
      #expect([census[.uploadedKeys], census[.claimedKeys], census[.fallbackClaims], census[.emptyClaims]] == [3, 3, 0, 1])
    }
  }

  @Test func `a fallback key counts as used once it was given out, until another comes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func unused() async throws -> [String] {
        let sync = try await fixture.call(.get, "sync?timeout=0", as: ann)
        return sync.json["device_unused_fallback_key_types"]?.elements.compactMap(\.string) ?? ["none told"]
      }
      func upload(_ name: String) async throws {
        _ = try await fixture.call(.post, "keys/upload", as: ann, #"{"fallback_keys":{"curve:\#(name)":"\#(name)"}}"#)
      }
      #expect(try await unused() == [])
      try await upload("A")
      #expect(try await unused() == ["curve"])
      _ = try await fixture.call(
        .post, "keys/claim", as: ann, #"{"one_time_keys":{"@ann:example.org":{"\#(ann.deviceID)":"curve"}}}"#)
      #expect(try await unused() == [])
      try await upload("A")
      #expect(try await unused() == [], "the same key again is no new one")
      try await upload("B")
      #expect(try await unused() == ["curve"])
    }
  }
}
