import JSON
import Testing

@testable import EncryptionLink

@Suite struct LinkTests {
  private static let record = LinkRecord(key: "e/in/1", value: [0, 255, 7])
  private static let sealed = EncryptionAction.SealedFile(bytes: [0, 1], key: "k", counter: "c", digest: "d")

  static let requests: [EncryptionRequest] = [
    .begin(user: "@ann:one.example", device: "DESK"), .loaded([record, LinkRecord(key: "e/account", value: [])]),
    .answer(7, target: "/_matrix/client/v3/sync?since=s1", body: Array("{}".utf8)),
    .records(8, room: "!tea:one.example", [record]),
    .encryption(room: "!tea:one.example", content: [1]),
    .encrypt(
      .max,
      UnencryptedContent(
        room: "!tea:one.example", users: ["@ann:one.example", "@bö:two.example"], sharesHistory: true, type: "m.room.message",
        content: [2])), .answered(1 << 40, body: [3, 4]), .failed(9, isFinal: true), .reachable, .woken,
    .command(1, .setUpIdentity), .command(6, .resetIdentity), .command(2, .setUpRecovery), .command(3, .inspectRecovery),
    .command(4, .recover("EsTc 1234")), .command(5, .acceptIdentity(of: "@bob:two.example")),
    .command(7, .verifyDevice("")), .command(8, .verifyUser("@bob:two.example", room: "!tea:one.example")),
    .command(9, .verification(3, .scanned([77, 0]))), .command(10, .verification(3, .accept)),
    .command(11, .verification(3, .compare)), .command(12, .verification(3, .confirm)),
    .command(13, .verification(3, .mismatch)), .command(14, .verification(3, .cancel)),
    .command(15, .offer(showsCodes: true, scansCodes: false)), .command(16, .inspect(user: "@bob:two.example")),
    .command(17, .exportKeys(passphrase: "p")), .command(18, .importKeys([1, 2], passphrase: "p")), .proceed(8),
    .command(24, .tell(DeviceEvent(type: "m.tea", content: [1]), [LinkDevice(user: "@bob:two.example", device: "PHONE")])),
    .command(19, .makeHistory(room: "!tea:one.example")),
    .command(20, .giveHistory(room: "!tea:one.example", to: "@bob:two.example", file: Array("{}".utf8))),
    .command(21, .takeHistory(room: "!tea:one.example", from: "@bob:two.example", sealed)),
    .accepted(room: "!tea:one.example", from: "@bob:two.example"), .command(22, .askForKeys(room: "!tea:one.example")),
    .command(23, .listVerified), .command(25, .diagnose), .command(26, .setReaders(.verified))
  ]

  static let reports: [EncryptionReport] = {
    var step = EncryptionReport.Step()
    step.deliveries = [
      .answer(7, [1]), .records(8, [record]), .encrypted(9, []), .blocked(10, .undecided, about: "@bob:two.example"),
      .late(room: "!tea:one.example", [[1], []]), .ended(1, .done("EsTc")), .ended(2, .recovery(.changed)),
      .ended(3, .failed(.wrongKey)), .ended(4, .verification(3)),
      .ended(
        5, .trust(EncryptionReport.Trust(hasIdentity: true, isVerified: false, devices: [.init(id: "A", isVerified: true)]))),
      .ended(
        9,
        .trust(
          EncryptionReport.Trust(
            hasIdentity: true, isVerified: false, hasChanged: true,
            devices: [.init(id: "A", name: "Desk", isSigned: false, isVerified: false)], refused: ["B"]))),
      .news(EncryptionReport.News(.deviceRefused, of: "@bob:two.example", device: "B")),
      .news(EncryptionReport.News(.namesCollided, of: "@bob:two.example")),
      .ended(3, .failed(.wrongKey)), .ended(4, .imported(total: 3, new: 2, unusable: 1)), .progress(5, done: 1, of: 256),
      .ended(8, .told([LinkDevice(user: "@bob:two.example", device: "PHONE")])),
      .received(
        ReceivedDeviceEvent(
          event: DeviceEvent(type: "m.tea", content: [1]), sender: LinkDevice(user: "@bob:two.example", device: "PHONE"),
          isSigned: true, isReader: false)),
      .ended(6, .sealed(sealed)), .ended(7, .users(["@bob:two.example", "@bö:two.example"])),
      .history(room: "!tea:one.example", from: "@bob:two.example", [7])
    ]
    step.changes = [.put(record), .delete("e/send/1")]
    step.later = [.late(room: "!tea:one.example", [])]
    step.requests = [.init(id: .max, method: 2, target: "/_matrix/client/v3/keys/query", body: [5])]
    step.loads = ["e/account", "e/user/"]
    step.wakeAt = 1_700_000_000_000
    step.broken = .changedOwnKeys
    step.isOver = true
    step.state.hasIdentity = true
    step.state.backup = .replaced
    (step.state.restored, step.state.restoring) = (3, 300)
    step.state.readers = .all
    step.state.changed = [.init(user: "@bob:two.example", wasVerified: true)]
    step.state.keyChanges = [.init(user: "@bob:two.example", at: 1_700_000_000_000)]
    (step.state.dehydrated, step.state.dehydratedFailure) = (.reading(messages: 300, keys: 7), .tooManyMessages)
    let stages: [EncryptionReport.Stage] = [
      .requested, .ready(canCompare: true, code: [1, 2], canScan: false), .agreeing,
      .comparing(emoji: [.init(number: 63, symbol: "📌", name: "Pin")], decimals: [1_000, 9_191]), .scanned, .confirmed, .done,
      .cancelled(.keyMismatch, isByUs: true)
    ]
    step.verifications = stages.map { stage in
      EncryptionReport.Verification(
        id: 3, user: "@bob:two.example", device: "", room: "!tea:one.example", isOwn: false, isOurs: true, deadline: 5,
        stage: stage)
    }
    return [.step(step), .step(EncryptionReport.Step()), .plainAnswer(7), .plainRecords(.max)]
  }()

  @Test(arguments: requests) func `what the page says is heard as it was said`(request: EncryptionRequest) throws {
    let read = try EncryptionRequest.read(request.bytes(at: -5))
    #expect(read.request == request && read.now == -5)
  }

  @Test(arguments: reports) func `what the Worker says is heard as it was said`(report: EncryptionReport) throws {
    #expect(try EncryptionReport.read(report.bytes) == report)
  }

  @Test func `messages that are cut off, or have something behind them, are refused`() {
    for bytes in Self.requests.map({ $0.bytes(at: 0) }) {
      for count in 0..<bytes.count {
        #expect(throws: LinkError.self, "\(count) of \(bytes)") { _ = try EncryptionRequest.read(Array(bytes.prefix(count))) }
      }
      #expect(throws: LinkError.tooLong) { _ = try EncryptionRequest.read(bytes + [0]) }
    }
    for bytes in Self.reports.map({ $0.bytes }) {
      for count in 0..<bytes.count {
        #expect(throws: LinkError.self, "\(count) of \(bytes)") { _ = try EncryptionReport.read(Array(bytes.prefix(count))) }
      }
      #expect(throws: LinkError.tooLong) { _ = try EncryptionReport.read(bytes + [0]) }
    }
  }

  @Test func `a byte that is another never traps`() {
    for bytes in Self.requests.map({ $0.bytes(at: 0) }) + Self.reports.map({ $0.bytes }) {
      for place in bytes.indices {
        for value in [0, 1, 127, 255] as [UInt8] {
          var changed = bytes
          changed[place] = value
          _ = try? EncryptionRequest.read(changed)
          _ = try? EncryptionReport.read(changed)
        }
      }
    }
  }

  @Test func `counts that the bytes cannot hold cost no memory`() {
    let list: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255]
    #expect(throws: LinkError.cutOff) { _ = try EncryptionRequest.read(list) }
  }
}
