import Homeserver
import JSON
import MatrixModel
import RoomRules
import Testing

@Suite struct CrossSigningTests {
  /// A user's three keys, made from a seed.
  private struct Keys {
    let userID: UserID
    let master: SigningKey
    let selfSigning: SigningKey
    let userSigning: SigningKey

    init(_ userID: UserID, seed: UInt8) throws {
      self.userID = userID
      func key(_ number: UInt8) throws -> SigningKey {
        try #require(SigningKey(seed: Array(repeating: seed &+ number, count: 32), version: "x"))
      }
      master = try key(0)
      selfSigning = try key(1)
      userSigning = try key(2)
    }

    func object(_ key: SigningKey, _ usage: String) throws -> JSON {
      let base64 = key.publicKeyBase64
      return try JSON.parse(
        Array(#"{"user_id":"\#(userID)","usage":["\#(usage)"],"keys":{"ed25519:\#(base64)":"\#(base64)"}}"#.utf8))
    }

    /// An object signed by `signer`, whose key ID is its public part.
    static func signed(_ object: JSON, by signer: SigningKey, of userID: UserID) throws -> String {
      let signature = ByteString(
        decoding: UnpaddedBase64.encode(signer.sign(try object.canonical(leavingOut: ["signatures", "unsigned"]))))
      var text = String(decoding: object.bytes, as: UTF8.self)
      text.removeLast()
      return text + #","signatures":{"\#(userID)":{"ed25519:\#(signer.publicKeyBase64)":"\#(signature)"}}}"#
    }

    func upload(signer: SigningKey? = nil, auth: String? = nil) throws -> String {
      let auth = auth.map { #","auth":\#($0)"# } ?? ""
      return #"""
        {"master_key":\#(String(decoding: try object(master, "master").bytes, as: UTF8.self)),
        "self_signing_key":\#(try Self.signed(object(selfSigning, "self_signing"), by: signer ?? master, of: userID)),
        "user_signing_key":\#(try Self.signed(object(userSigning, "user_signing"), by: signer ?? master, of: userID))\#(auth)}
        """#
    }
  }

  private static let path = "keys/device_signing/upload"

  @Test func `of several first keys at once one is stored without a password`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uploads = try (1...8).map { try Keys(ann.userID, seed: $0 * 10).upload() }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for upload in uploads { group.addTask { try await fixture.call(.post, Self.path, as: ann, upload).status } }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200] + Array(repeating: 401, count: 7))
    }
  }

  @Test func `first keys need no password, the same again neither, others do`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let keys = try Keys(ann.userID, seed: 1)
      let others = try Keys(ann.userID, seed: 100)
      #expect(try await fixture.call(.post, Self.path, as: ann, keys.upload()).status == 200)
      #expect(try await fixture.call(.post, Self.path, as: ann, keys.upload()).status == 200)
      #expect(try await fixture.call(.post, Self.path, as: ann, others.upload()).status == 401)
      // The same public key with something added is not the same key.
      let master = #"{"x":1,"# + String(decoding: try keys.object(keys.master, "master").bytes.dropFirst(), as: UTF8.self)
      let changed = try await fixture.call(.post, Self.path, as: ann, #"{"master_key":\#(master)}"#)
      #expect(changed.status == 401)
      let auth = APIFixture.passwordAuth("ann")
      #expect(try await fixture.call(.post, Self.path, as: ann, others.upload(auth: auth)).status == 200)
      let query = try await fixture.call(.post, "keys/query", as: ann, #"{"device_keys":{"@ann:example.org":[]}}"#)
      #expect(
        query.json["master_keys"]?[ann.userID.text]?["keys"]?.members.first { _ in true }?.value.text
          == others.master.publicKeyBase64)
      #expect(query.json["user_signing_keys"]?[ann.userID.text] != nil)
    }
  }

  @Test func `keys must be signed by the master key, and there must be one`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let keys = try Keys(ann.userID, seed: 1)
      let wrong = try await fixture.call(.post, Self.path, as: ann, keys.upload(signer: keys.userSigning))
      #expect(wrong.errorCode == "M_INVALID_SIGNATURE")
      let lone = try Keys.signed(keys.object(keys.selfSigning, "self_signing"), by: keys.master, of: ann.userID)
      let missing = try await fixture.call(.post, Self.path, as: ann, #"{"self_signing_key":\#(lone)}"#)
      #expect(missing.errorCode == "M_MISSING_PARAM")
    }
  }

  @Test func `a cross-signing key and a device cannot have one name`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let keys = try Keys(ann.userID, seed: 1)
      _ = try await fixture.call(.post, Self.path, as: ann, keys.upload())
      let login = try await fixture.logIn("ann", more: #","device_id":"\#(keys.master.publicKeyBase64)""#)
      #expect(login.errorCode == "M_FORBIDDEN")
      let others = try Keys(ann.userID, seed: 100)
      _ = try await fixture.logIn("ann", more: #","device_id":"\#(others.selfSigning.publicKeyBase64)""#)
      let refused = try await fixture.call(
        .post, Self.path, as: ann, others.upload(auth: APIFixture.passwordAuth("ann")))
      #expect(refused.errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `a signature is kept if it is right, and seen by those it concerns`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let eve = try await fixture.register("eve")
      let (annKeys, bobKeys) = (try Keys(ann.userID, seed: 1), try Keys(bob.userID, seed: 50))
      _ = try await fixture.call(.post, Self.path, as: ann, annKeys.upload())
      _ = try await fixture.call(.post, Self.path, as: bob, bobKeys.upload())
      let target = try bobKeys.object(bobKeys.master, "master")
      func upload(_ signer: SigningKey) async throws -> APIFixture.Answer {
        let signed = try Keys.signed(target, by: signer, of: ann.userID)
        return try await fixture.call(
          .post, "keys/signatures/upload", as: ann,
          #"{"@bob:example.org":{"\#(bobKeys.master.publicKeyBase64)":\#(signed)}}"#)
      }
      let failed = try await upload(bobKeys.userSigning)
      let failure = failed.json["failures"]?["@bob:example.org"]?[bobKeys.master.publicKeyBase64]
      #expect(failure?["errcode"]?.string == "M_INVALID_SIGNATURE")
      let room = try await fixture.call(.post, "createRoom", as: bob, #"{"preset":"public_chat"}"#).json["room_id"]?.text
      for user in [ann, eve] {
        _ = try await fixture.call(.post, "join/" + PercentEncoding.encode(try #require(room)), as: user)
      }
      func token() async throws -> String {
        try #require(try await fixture.call(.get, "sync?timeout=0", as: eve).json["next_batch"]?.string)
      }
      let before = try await token()
      #expect(try await upload(annKeys.userSigning).json["failures"]?.count == 0)
      for (asker, isSeen) in [(ann, true), (bob, false), (eve, false)] {
        let query = try await fixture.call(.post, "keys/query", as: asker, #"{"device_keys":{"@bob:example.org":[]}}"#)
        let signatures = query.json["master_keys"]?["@bob:example.org"]?["signatures"]?["@ann:example.org"]
        #expect((signatures != nil) == isSeen)
      }
      // Nobody but its maker is told of it either.
      let after = try await token()
      for (asker, expected) in [(ann, ["@bob:example.org"]), (bob, []), (eve, [])] {
        let changes = try await fixture.call(.get, "keys/changes?from=\(before)&to=\(after)", as: asker)
        #expect(changes.json["changed"]?.elements.compactMap(\.string) == expected)
      }
    }
  }
}
