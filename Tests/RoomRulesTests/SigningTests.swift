import JSON
import MatrixModel
import Testing

@testable import RoomRules

@Suite struct SigningTests {
  /// Appendices, "Cryptographic Test Vectors", "JSON Signing".
  static let signedObjects = [
    (
      "{}",
      #"{"signatures":{"domain":{"ed25519:1":"K8280/U9SSy9IVtjBuVeLr+HpOB4BQFWbg+UZaADMtTdGYI7Geitb76LTrr5QV/7Xg4ahLwYGYZzuHGZKM5ZAQ"}}}"#
    ),
    (
      #"{"two":"Two","one":1}"#,
      #"{"one":1,"signatures":{"domain":{"ed25519:1":"KqmLSbO39/Bzb0QIYE82zqLwsA+PDzYIpIRA2sRQ4sL53+sN6/fpNSoqE7BP7vBZhG6kYdD13EIMJpvhJI+6Bw"}},"two":"Two"}"#
    )
  ]

  @Test(arguments: signedObjects) func `the spec's signed objects`(source: String, signed: String) throws {
    #expect(text(try SignedJSON.sign(try json(source), as: "domain", with: testKey)) == signed)
    let read = SignedJSON(try json(signed))
    #expect(read.keyIDs(of: "domain") == ["ed25519:1"])
    #expect(read.isSigned(by: "domain", keyID: "ed25519:1", publicKey: testKey.publicKey))
  }

  /// Appendices, "Cryptographic Test Vectors", "Event Signing": event, content hash, signature.
  static let signedEvents = [
    (
      #"{"room_id":"!x:domain","sender":"@a:domain","origin":"domain","origin_server_ts":1000000,"signatures":{},"hashes":{},"type":"X","content":{},"prev_events":[],"auth_events":[],"depth":3,"unsigned":{"age_ts":1000000}}"#,
      "5jM4wQpv6lnBo7CLIghJuHdW+s2CMBJPUOGOC89ncos",
      "KxwGjPSDEtvnFgU00fwFz+l6d2pJM6XBIaMEn81SXPTRl16AqLAYqfIReFGZlHi5KLjAWbOoMszkwsQma+lYAg"
    ),
    (
      #"{"content":{"body":"Here is the message content"},"event_id":"$0:domain","origin":"domain","origin_server_ts":1000000,"type":"m.room.message","room_id":"!r:domain","sender":"@u:domain","signatures":{},"unsigned":{"age_ts":1000000}}"#,
      "onLKD1bGljeBWQhWZ1kaP9SorVmRQNdN5aM2JYU2n/g",
      "Wm+VzmOUOz08Ds+0NTWb1d4CZrVsJSikkeRxh6aCcUwu6pNC78FunoD7KNWzqFn241eYHYMGCA5McEiVPdhzBA"
    )
  ]

  @Test(arguments: signedEvents) func `the spec's signed events`(source: String, hash: String, signature: String) throws {
    let event = try JSON.parse(try json(source).canonical())
    #expect(text(UnpaddedBase64.encode(PDU.contentHash(of: event))) == hash)

    var hashed = JSONWriter()
    hashed.object { writer in
      for member in event.members where !member.isKey("hashes") {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key("hashes")
      writer.object { $0.member("sha256", hash) }
    }
    let canonical = try JSON.parse(try JSON.parse(hashed.bytes).canonical())
    let type = try #require(EventType(event["type"]))
    let redacted = RoomVersion.v10.redaction.redacted(canonical, type: type, leavingOut: ["signatures"])
    #expect(text(UnpaddedBase64.encode(testKey.sign(redacted))) == signature)
  }

  @Test func `a signature more keeps those there are`() throws {
    let other = try #require(SigningKey(seed: [UInt8](repeating: 7, count: 32), version: "b"))
    let once = try SignedJSON.sign(try json(#"{"a":1}"#), as: "one", with: testKey)
    let twice = try SignedJSON.sign(try JSON.parse(once), as: "one", with: other)
    let thrice = SignedJSON(try JSON.parse(try SignedJSON.sign(try JSON.parse(twice), as: "two", with: other)))
    #expect(thrice.isSigned(by: "one", keyID: "ed25519:1", publicKey: testKey.publicKey))
    #expect(thrice.isSigned(by: "one", keyID: "ed25519:b", publicKey: other.publicKey))
    #expect(thrice.isSigned(by: "two", keyID: "ed25519:b", publicKey: other.publicKey))
    #expect(!thrice.isSigned(by: "two", keyID: "ed25519:b", publicKey: testKey.publicKey))
    #expect(!thrice.isSigned(by: "three", keyID: "ed25519:b", publicKey: other.publicKey))
  }

  @Test func `a changed object is not signed`() throws {
    let signed = text(try SignedJSON.sign(try json(#"{"a":1}"#), as: "one", with: testKey))
    let changed = SignedJSON(try json(signed.replacing(#""a":1"#, with: #""a":2"#)))
    #expect(!changed.isSigned(by: "one", keyID: "ed25519:1", publicKey: testKey.publicKey))
  }

  @Test func `a key survives its line`() throws {
    let key = try #require(SigningKey(seed: Array(0..<32), version: "a_B9"))
    #expect(key.keyID == "ed25519:a_B9")
    let again = try #require(SigningKey(line: ByteString(key.line.string + "\n")))
    #expect(again.publicKey == key.publicKey)
    #expect(again.line == key.line)
    #expect(again.sign([1, 2]) == key.sign([1, 2]))
  }

  @Test(arguments: [
    "", "ed25519 1", "ed25519 1 AAAA", "curve25519 1 YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1",
    "ed25519 a:b YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1"
  ])
  func `other lines are no keys`(line: String) {
    #expect(SigningKey(line: ByteString(line)) == nil)
  }

  @Test(arguments: [31, 33]) func `a seed has 32 bytes`(count: Int) {
    #expect(SigningKey(seed: [UInt8](repeating: 1, count: count), version: "1") == nil)
  }

  @Test func `wrong lengths are wrong signatures`() {
    #expect(!SigningKey.verify([UInt8](repeating: 0, count: 63), of: [1], publicKey: testKey.publicKey))
    #expect(!SigningKey.verify(testKey.sign([1]), of: [1], publicKey: []))
    #expect(SigningKey.verify(testKey.sign([1]), of: [1], publicKey: testKey.publicKey))
  }
}

@Suite struct UnpaddedBase64Tests {
  /// Appendices, "Unpadded Base64".
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy")
  ])
  func `the spec's examples`(plain: String, encoded: String) {
    #expect(text(UnpaddedBase64.encode(Array(plain.utf8))) == encoded)
    #expect(UnpaddedBase64.decode(Array(encoded.utf8)) == Array(plain.utf8))
  }

  @Test func `both alphabets and padding are read`() {
    #expect(UnpaddedBase64.decode(Array("-_8=".utf8)) == [0xFB, 0xFF])
    #expect(UnpaddedBase64.decode(Array("+/8".utf8)) == [0xFB, 0xFF])
    #expect(text(UnpaddedBase64.encode([0xFB, 0xFF], .urlSafe)) == "-_8")
  }

  @Test(arguments: ["A", "AAAAA", "A=AA", "AA===", "AAA==", "A A", "Zg\n", "é"]) func `other text is refused`(
    text: String
  ) {
    #expect(UnpaddedBase64.decode(Array(text.utf8)) == nil)
  }
}
