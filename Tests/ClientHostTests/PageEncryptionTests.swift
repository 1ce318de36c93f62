import EncryptionLink
import JSON
import MatrixModel
import Olm
import Testing

@testable import ClientCore
@testable import EncryptionWorker
@testable import ClientHost

/// The page's side with the machine of the Worker, a store in memory and a server that has no other devices.
final class EncryptionDesk {
  let page = PageEncryption()
  private var worker = WorkerDesk(random: .repeating(seed: Array("ann".utf8)))
  /// What is on the way to the Worker and back.
  private(set) var sent: [[UInt8]] = []
  private(set) var stored: [ByteString: [UInt8]] = [:]
  private(set) var inputs: [Input] = []
  private(set) var asked: [String] = []
  var isStoreBroken = false
  private(set) var isLost = false
  /// Whether the Worker is loaded.
  var isLoaded = true

  init(stored: [ByteString: [UInt8]] = [:]) {
    self.stored = stored
    page.answer = { [unowned self] in inputs.append($0) }
    page.onLost = { [unowned self] in isLost = true }
    page.connect = { [unowned self] in
      let page = page
      page.send = { [unowned self] in sent.append($0) }
    }
    page.read = { [unowned self] prefixes, then in
      let found = self.stored.filter { entry in prefixes.contains { entry.key.utf8.starts(with: $0.utf8) } }
      then(found.map { StoreRecord(key: $0.key, value: $0.value) })
    }
    page.write = { [unowned self] in write() }
    page.ask = { [unowned self] request, then in
      asked.append(request.target)
      let isState = request.target.contains("/state/")
      let answer =
        isState
        ? #"{"algorithm":"m.megolm.v1.aes-sha2"}"# : #"{"device_keys":{},"one_time_key_counts":{"signed_curve25519":50}}"#
      then((try? JSON.parse(Array(answer.utf8))).map { .answer($0) } ?? .failed(.invalidContent))
    }
    page.prepare {}
  }

  func signIn() {
    page.follow(
      Session(userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "secret"))
  }

  func write() {
    guard let held = page.takeHeld() else { return }
    if !isStoreBroken {
      for change in held.changes {
        switch change {
        case .put(let key, let value): stored[key] = value
        case .delete(let key): stored[key] = nil
        case .deleteAll(let prefix): stored = stored.filter { !$0.key.utf8.starts(with: prefix.utf8) }
        }
      }
    }
    held.then(!isStoreBroken)
  }

  /// Until nobody has anything to say.
  func settle() {
    for _ in 0..<100 where isLoaded && !sent.isEmpty { for report in worker.take(sent.removeFirst()) { page.heard(report) } }
  }

  func encrypt(_ id: SendID, sharesHistory: Bool = false) {
    page.encrypt(
      UnencryptedMessage(
        room: RoomID(trusted: "!tea:one.example"), users: [UserID(trusted: "@ann:one.example")], sharesHistory: sharesHistory,
        type: .message,
        content: Array(#"{"msgtype":"m.text","body":"hello"}"#.utf8)), id)
  }

  var encrypted: [SendID] { inputs.compactMap { if case .encrypted(let id, _) = $0 { id } else { nil } } }
  var refused: [SendID] { inputs.compactMap { if case .notEncrypted(let id, _) = $0 { id } else { nil } } }
  var responses: [RequestID] { inputs.compactMap { if case .response(let id, _) = $0 { id } else { nil } } }
}

@Suite struct PageEncryptionTests {
  private static let sync = Array(#"{"next_batch":"s1"}"#.utf8)

  @Test func `nothing of it is loaded before there is something encrypted`() {
    let desk = EncryptionDesk()
    desk.signIn()
    #expect(!desk.page.isBegun && !desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync", 1))
    desk.page.begin()
    desk.settle()
    #expect(desk.page.isBegun && desk.stored["e/account"] != nil)
    #expect(desk.asked.contains("/_matrix/client/v3/keys/upload"))
  }

  @Test func `a device that was here before gets every sync, also those that come while it is loaded`() {
    let first = EncryptionDesk()
    first.signIn()
    first.page.begin()
    first.settle()
    let desk = EncryptionDesk(stored: first.stored)
    desk.isLoaded = false
    desk.signIn()
    #expect(desk.page.isBegun && desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync", 1))
    desk.settle()
    #expect(desk.responses.isEmpty)
    desk.isLoaded = true
    desk.settle()
    #expect(desk.responses == [1])
  }

  @Test func `a new device does not hold the client up while it is loaded`() {
    let desk = EncryptionDesk()
    desk.isLoaded = false
    desk.signIn()
    desk.page.begin()
    #expect(!desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync", 1))
  }

  @Test func `the server says how a room is encrypted that the machine has not seen`() {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.encrypt(5)
    desk.settle()
    #expect(desk.encrypted == [5] && desk.refused.isEmpty)
    #expect(desk.asked.contains("/_matrix/client/v3/rooms/%21tea%3Aone.example/state/m.room.encryption/"))
    // Its key is there before it is.
    #expect(desk.stored.keys.contains { $0.utf8.starts(with: "e/out/".utf8) })
  }

  @Test func `a store that takes nothing ends it, and nothing that waits is lost`() {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.page.begin()
    desk.settle()
    desk.isLoaded = false
    #expect(desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync?since=s0", 3))
    desk.encrypt(5)
    desk.isStoreBroken = true
    desk.page.lose()
    #expect(desk.isLost && desk.responses == [3] && desk.refused == [5])
    // Also what comes later.
    desk.encrypt(6)
    #expect(desk.refused == [5, 6] && !desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync", 4))
  }

  @Test func `a batch that is not stored ends it`() {
    let desk = EncryptionDesk()
    desk.isStoreBroken = true
    desk.signIn()
    desk.page.begin()
    desk.settle()
    #expect(desk.isLost && desk.stored.isEmpty)
    #expect(!desk.asked.contains("/_matrix/client/v3/keys/upload"), "keys that are not stored are not published")
  }

  @Test func `what is not of this version ends it`() {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.page.begin()
    desk.page.heard([9, 9])
    #expect(desk.isLost)
  }

  @Test func `a page that is closed writes nothing more: another has the store`() {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.page.begin()
    desk.isLoaded = false
    let late = desk.page.send
    desk.page.close()
    desk.isLoaded = true
    desk.settle()
    #expect(desk.stored.isEmpty && desk.page.send == nil && late != nil)
    desk.encrypt(5)
    #expect(desk.refused == [5] && desk.stored.isEmpty)
  }

  @Test func `another session is another device`() {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.page.begin()
    desk.settle()
    desk.page.follow(nil)
    #expect(!desk.page.isBegun && !desk.page.takes(Self.sync, to: "/_matrix/client/v3/sync", 1))
    desk.encrypt(5)
    #expect(desk.refused == [5])
  }
}
