import JSON
import MatrixModel
import Olm

extension RecordNames {
  static let ownIdentity: ByteString = "e/self"
  static let identities: ByteString = "e/identity/"
  static let policy: ByteString = "e/policy"

  func identity(_ user: UserID) -> ByteString { named(Self.identities, user.text) }
}

extension Identities {
  /// The changes that the store does not have yet.
  func writes(_ names: RecordNames) -> [RecordChange] {
    var writes: [RecordChange] = []
    if isOwnUnstored { writes.append(.put(EncryptionRecord(key: RecordNames.ownIdentity, value: own.record))) }
    for user in unstored.ordered() {
      guard let identity = identity(of: user) else { continue }
      writes.append(.put(EncryptionRecord(key: names.identity(user), value: identity.record)))
    }
    return writes
  }
}

extension UserIdentity {
  var record: [UInt8] { JSONWriter.record { write(to: &$0) } }

  init(record bytes: [UInt8]) throws(RecordRefusal) { try self.init(try JSON.record(bytes)) }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("user", keys.user)
    writer.member("master", base64: keys.master.bytes)
    if let key = keys.selfSigning { writer.member("self_signing", base64: key.bytes) }
    if let key = keys.userSigning { writer.member("user_signing", base64: key.bytes) }
    writer.member("pinned", base64: pinned.bytes)
    if let previous { writer.member("previous", base64: previous.bytes) }
    writer.member("verified", wasVerified)
    if let changedAt { writer.member("changed", changedAt) }
    if let signer { writer.member("signer", base64: signer.bytes) }
    writer.member("collision", hasNameCollision)
    writer.member("signs", hasSignedDevice)
  }

  fileprivate init(_ json: JSON) throws(RecordRefusal) {
    let keys = CrossSigningKeys(
      user: try json.identifier("user"), master: try json.signingKey("master"),
      selfSigning: try json.signingKeyIfAny("self_signing"), userSigning: try json.signingKeyIfAny("user_signing"))
    self.init(
      keys, pinned: try json.signingKey("pinned"), previous: try json.signingKeyIfAny("previous"),
      wasVerified: try json.flag("verified"), changedAt: json.integer("changed"),
      signer: try json.signingKeyIfAny("signer"), hasNameCollision: try json.flag("collision"),
      hasSignedDevice: try json.flag("signs"))
  }
}

extension OwnIdentity {
  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("user", user)
      writer.member("device", device)
      if let identity {
        writer.key("identity")
        writer.object { identity.write(to: &$0) }
      }
      writer.member("signed", isDeviceSigned)
      if let verifiedMaster { writer.member("verified", base64: verifiedMaster.bytes) }
      writer.array("private", pairs.keys.ordered { $0.rawValue < $1.rawValue }) { use, writer in
        guard let pair = pairs[use] else { return }
        writer.object { writer in
          writer.member("use", Int(use.rawValue))
          writer.member("key", base64: pair.seed.exposed())
        }
      }
      if let setup {
        writer.array("setup", CrossSigningUse.allCases) { use, writer in
          writer.write(ByteString(decoding: Base64.encode(setup[use].seed.exposed())))
        }
      }
      writer.array("unsent", unsent) { object, writer in
        writer.object { writer in
          writer.member("user", object.user)
          writer.member("name", object.name)
          writer.member("object", raw: object.bytes)
        }
      }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    var pairs: [CrossSigningUse: Ed25519KeyPair] = [:]
    for entry in json["private"]?.elements.map({ $0 }) ?? [] {
      guard let use = CrossSigningUse(rawValue: UInt8(clamping: try entry.number("use"))) else { throw .unreadable }
      pairs[use] = try Self.pair(entry["key"])
    }
    var unsent: [SignedObject] = []
    for entry in json["unsent"]?.elements.map({ $0 }) ?? [] {
      guard let name = entry.text("name"), let object = entry["object"], object.isObject else { throw .unreadable }
      unsent.append(SignedObject(user: try entry.identifier("user"), name: name, object: object))
    }
    var identity: UserIdentity?
    if let stored = json["identity"] { identity = try UserIdentity(stored) }
    self.init(
      user: try json.identifier("user"), device: try json.identifier("device"), identity: identity,
      isDeviceSigned: try json.flag("signed"), verifiedMaster: try json.signingKeyIfAny("verified"), pairs: pairs,
      setup: try Self.setup(json["setup"]), unsent: unsent)
  }

  private static func setup(_ json: JSON?) throws(RecordRefusal) -> CrossSigningPairs? {
    guard let keys = json?.elements.map({ $0 }) else { return nil }
    guard keys.count == CrossSigningUse.allCases.count else { throw .unreadable }
    return CrossSigningPairs(master: try pair(keys[0]), selfSigning: try pair(keys[1]), userSigning: try pair(keys[2]))
  }

  private static func pair(_ json: JSON?) throws(RecordRefusal) -> Ed25519KeyPair {
    guard let text = json?.text, let bytes = Base64.decode(Array(text.utf8)), let pair = Ed25519KeyPair(seed: Secret(bytes))
    else {
      throw .unreadable
    }
    return pair
  }
}

extension SharingPolicy {
  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("readers", Int(readers.rawValue))
      writer.member("sends_unverified", sendsUnverified)
      writer.array("excluded", excluded.map { $0.name }.ordered()) { $1.write($0) }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let readers = Readers(rawValue: UInt8(clamping: try json.number("readers"))) else { throw .unreadable }
    self.init(readers: readers, sendsUnverified: try json.flag("sends_unverified"))
    for element in json["excluded"]?.elements.map({ $0 }) ?? [] {
      guard let text = element.text, let key = Base64.decode(Array(text.utf8)).flatMap({ Ed25519Key($0) }) else {
        throw .unreadable
      }
      excluded.insert(key)
    }
  }
}
