import Encryption
import EncryptionLink
import JSON
import MatrixModel
import Olm
import Testing

@testable import EncryptionWorker

@Suite struct WorkerDeskTests {
  private static func desk() -> WorkerDesk { WorkerDesk(random: .repeating(seed: Array("ann".utf8))) }

  private static func steps(_ messages: [[UInt8]]) throws -> [EncryptionReport.Step] {
    try messages.compactMap { if case .step(let step) = try EncryptionReport.read($0) { step } else { nil } }
  }

  /// Says it, and answers what is asked because of it: records with none, the server with none of other devices. All steps.
  private static func steps(of request: EncryptionRequest, _ desk: inout WorkerDesk) throws -> [EncryptionReport.Step] {
    var steps = try steps(desk.take(request.bytes(at: 0)))
    var next = 0
    while next < steps.count, next < 50 {
      let step = steps[next]
      next += 1
      if !step.loads.isEmpty { steps += try Self.steps(desk.take(EncryptionRequest.loaded([]).bytes(at: 0))) }
      for request in step.requests {
        let body = Array(#"{"device_keys":{},"one_time_key_counts":{"signed_curve25519":50}}"#.utf8)
        steps += try Self.steps(desk.take(EncryptionRequest.answered(request.id, body: body).bytes(at: 0)))
      }
    }
    return steps
  }

  private static func begun() throws -> (desk: WorkerDesk, steps: [EncryptionReport.Step]) {
    var desk = desk()
    let steps = try steps(of: .begin(user: "@ann:one.example", device: "DESK"), &desk)
    return (desk, steps)
  }

  @Test func `a new device is stored before its keys are uploaded`() throws {
    let steps = try Self.begun().steps
    let stored = try #require(
      steps.firstIndex { $0.changes.contains { if case .put(let record) = $0 { record.key == "e/account" } else { false } } })
    let uploading = try #require(steps.firstIndex { $0.requests.contains { $0.target == "/_matrix/client/v3/keys/upload" } })
    let upload = try #require(steps[uploading].requests.first { $0.target == "/_matrix/client/v3/keys/upload" })
    #expect(stored <= uploading && upload.method == Endpoint.Method.post.rawValue)
    #expect(try JSON.parse(upload.body)["device_keys"]?.text("user_id") == "@ann:one.example")
    #expect(steps.allSatisfy { $0.broken == nil && !$0.isOver })
  }

  @Test func `answers without anything encrypted come back as what they were`() throws {
    var desk = try Self.begun().desk
    let target: ByteString = "/_matrix/client/v3/rooms/!tea:one.example/messages"
    let answer = desk.take(EncryptionRequest.answer(7, target: target, body: Array(#"{"chunk":[]}"#.utf8)).bytes(at: 0))
    #expect(try answer.map { try EncryptionReport.read($0) } == [.plainAnswer(7)])
    let records = desk.take(
      EncryptionRequest.records(8, room: "!tea:one.example", [LinkRecord(key: "t/1", value: [])]).bytes(at: 0))
    #expect(try records.map { try EncryptionReport.read($0) } == [.plainRecords(8)])
  }

  @Test func `actions about verifications end with what the machine says`() throws {
    var desk = try Self.begun().desk
    func end(_ action: EncryptionAction) throws -> EncryptionReport.Outcome? {
      let later = try Self.steps(of: .command(1, action), &desk).flatMap { $0.later }
      for case .ended(1, let outcome) in later { return outcome }
      return nil
    }
    #expect(try end(.verifyDevice("")) == .failed(.incomplete), "the account has no identity")
    #expect(try end(.verifyUser("nobody", room: "!tea:one.example")) == .failed(.unusable))
    #expect(try end(.verification(7, .accept)) == .failed(.unusable))
    #expect(try end(.offer(showsCodes: true, scansCodes: false)) == .done(""))
    let trust = EncryptionReport.Trust(hasIdentity: false, isVerified: false, devices: [])
    #expect(try end(.inspect(user: "@bob:two.example")) == .trust(trust))
  }

  @Test func `what is known of the encryption is told for a report`() throws {
    var desk = try Self.begun().desk
    let ends = try Self.steps(of: .command(1, .diagnose), &desk).flatMap { $0.later }
    let text = ends.compactMap { if case .ended(1, .done(let text)) = $0 { text.string } else { nil } }
    #expect(
      text == [
        "device: DESK, its keys are at the server\nidentity: none\nbackup: off\ndehydrated device: none\n"
          + "unread now: 0\nunread when they came: 0\nread later: 0\nsessions begun anew: 0\ndevices that get no keys: 0\n"
          + "identities that changed and were not accepted: 0\n"
          + "devices that their users did not sign: 0, whose keys were refused: 0\nfault: none"
      ])
  }

  @Test func `a message is encrypted once the room's encryption is known`() throws {
    var desk = try Self.begun().desk
    let content = UnencryptedContent(
      room: "!tea:one.example", users: ["@ann:one.example"], sharesHistory: false, type: "m.room.message",
      content: Array(#"{"msgtype":"m.text","body":"hello"}"#.utf8))
    let before = try Self.steps(of: .encrypt(1, content), &desk)
    #expect(before.flatMap { $0.deliveries } == [.blocked(1, .notEncrypted, about: "")])
    let state = Array(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#.utf8)
    _ = try Self.steps(of: .encryption(room: "!tea:one.example", content: state), &desk)
    let steps = try Self.steps(of: .encrypt(2, content), &desk)
    let deliveries = steps.flatMap { $0.deliveries }
    guard case .encrypted(2, let ciphertext)? = deliveries.first else {
      Issue.record("\(steps)")
      return
    }
    #expect(try JSON.parse(ciphertext).text("algorithm") == "m.megolm.v1.aes-sha2")
  }

  @Test func `what cannot be read ends it, and what waits is handed back`() throws {
    var desk = Self.desk()
    _ = desk.take(EncryptionRequest.begin(user: "@ann:one.example", device: "DESK").bytes(at: 0))
    let body = Array(#"{"next_batch":"s1"}"#.utf8)
    _ = desk.take(EncryptionRequest.answer(7, target: "/_matrix/client/v3/sync", body: body).bytes(at: 0))
    let end = try #require(try Self.steps(desk.take([1, 2, 3])).first)
    #expect(end.isOver && end.deliveries == [.answer(7, body)] && end.changes.isEmpty)
  }
}
