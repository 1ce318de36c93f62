import JSON
import MatrixModel
import Olm

/// Keys that were verified and are signed with the server's next list: its objects are what is signed.
///
/// A value: it is stored with the batch that ends the verification, so that a crash does not undo what people did.
struct UnsignedKeys: Sendable {
  private(set) var keys: [VerifiedKeys] = []
  private(set) var isUnstored = false

  init() {}

  mutating func markStored() { isUnstored = false }

  mutating func append(_ new: VerifiedKeys) {
    guard !keys.contains(new) else { return }
    keys.append(new)
    isUnstored = true
  }

  /// Whose lists have to be asked for.
  func users(of own: UserID) -> [UserID] { keys.map { $0.user(own) } }

  /// Returns those that an answer about these users has the objects of. Others may have come in their place: the caller compares.
  mutating func take(of users: [UserID], own: UserID) -> [VerifiedKeys] {
    let taken = keys.filter { users.contains($0.user(own)) }
    if !taken.isEmpty {
      keys.removeAll { taken.contains($0) }
      isUnstored = true
    }
    return taken
  }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.array("keys", keys) { keys, writer in
        writer.object { writer in
          switch keys {
          case .user(let user, let master):
            writer.member("user", user)
            writer.member("master", base64: master.bytes)
          case .ownDevice(let device): device.write(to: &writer)
          case .ownMaster(let master, let device):
            writer.member("master", base64: master.bytes)
            device.write(to: &writer)
          }
        }
      }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    for entry in json["keys"]?.elements.map({ $0 }) ?? [] {
      let master = try entry.signingKeyIfAny("master")
      if entry["device"] == nil {
        guard let master else { throw .unreadable }
        keys.append(.user(try entry.identifier("user"), master: master))
      } else {
        let device = DeviceKeys(
          user: try entry.identifier("user"), device: try entry.identifier("device"),
          identity: try entry.identityKey("identity"), signing: try entry.signingKey("signing"))
        keys.append(master.map { .ownMaster($0, by: device) } ?? .ownDevice(device))
      }
    }
  }
}

extension VerifiedKeys {
  func user(_ own: UserID) -> UserID { if case .user(let user, _) = self { user } else { own } }
}

extension DeviceKeys {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("user", user)
    writer.member("device", device)
    writer.member("identity", base64: identity.bytes)
    writer.member("signing", base64: signing.bytes)
  }
}

extension RecordNames {
  static let unsignedKeys: ByteString = "e/verified"
}
