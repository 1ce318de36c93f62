import Encryption
import EncryptionLink
import JSON
import MatrixModel
import Olm
import Testing

@testable import EncryptionWorker

/// Key files in the page: the Worker, and a page that has its records.
@Suite struct KeyFileActionsTests {
  /// Says what it is asked, and goes on when it is told how far something is.
  private struct Page {
    var desk = WorkerDesk(random: .repeating(seed: Array("ann".utf8)))
    var records: [ByteString: [UInt8]] = [:]
    var progress: [UInt32] = []
    var outcome: EncryptionReport.Outcome?

    init() throws { try say(.begin(user: "@ann:one.example", device: "DESK")) }

    mutating func say(_ request: EncryptionRequest) throws {
      var waiting = [request]
      while !waiting.isEmpty {
        for message in desk.take(waiting.removeFirst().bytes(at: 0)) {
          guard case .step(let step) = try EncryptionReport.read(message) else { continue }
          for change in step.changes {
            switch change {
            case .put(let record): records[record.key] = record.value
            case .delete(let key): records[key] = nil
            }
          }
          if !step.loads.isEmpty { waiting.append(.loaded(found(step.loads))) }
          for delivery in step.later {
            if case .ended(_, let end) = delivery { outcome = end }
            guard case .progress(let number, let done, _) = delivery else { continue }
            progress.append(done)
            waiting.append(.proceed(number))
          }
        }
      }
    }

    private func found(_ prefixes: [ByteString]) -> [LinkRecord] {
      prefixes.flatMap { prefix in
        records.filter { $0.key.utf8.starts(with: prefix.utf8) }.map { LinkRecord(key: $0.key, value: $0.value) }
      }
    }
  }

  private static func file(_ count: Int, passphrase: String) throws -> [UInt8] {
    var random = SecretSource.repeating(seed: Array("file".utf8))
    let keys = try (0..<count).map { _ in
      RoomKey(
        RoomID(trusted: "!tea:one.example"),
        try InboundGroupSession(sharedKey: OutboundGroupSession(random: &random).sharedKey.exposed()),
        .claimed(identity: Curve25519KeyPair(from: &random).key), sharesHistory: false)
    }
    let derivation = try PassphraseKey(salt: random.bytes(16), rounds: 10)
    let secret = derivation.derive(from: Array(passphrase.utf8), byteCount: KeyFile.keysByteCount)
    return try KeyFile.seal(ExportedRoomKey.file(of: keys), secret, derivation, random: &random)
  }

  @Test func `keys come from a file in slices, and leave in another one`() throws {
    var page = try Page()
    try page.say(.command(7, .importKeys(try Self.file(250, passphrase: "p"), passphrase: "p")))
    #expect(page.outcome == .imported(total: 250, new: 250, unusable: 0) && page.progress == [100, 200])
    try page.say(.command(8, .importKeys(try Self.file(250, passphrase: "p"), passphrase: "p")))
    #expect(page.outcome == .imported(total: 250, new: 0, unusable: 0))
    page.progress = []
    try page.say(.command(9, .exportKeys(passphrase: "q")))
    #expect(page.progress == (1...255).map { UInt32($0) })
    guard case .done(let text)? = page.outcome else {
      Issue.record("\(String(describing: page.outcome))")
      return
    }
    let file = try KeyFile(text.utf8)
    let plaintext = try file.open(file.passphraseKey.derive(from: Array("q".utf8), byteCount: KeyFile.keysByteCount))
    #expect(try ExportedRoomKey.keys(ofFile: plaintext).keys.count == 250)
  }

  @Test func `what is no key file, and a wrong passphrase, are told apart`() throws {
    var page = try Page()
    let file = try Self.file(1, passphrase: "p")
    try page.say(.command(1, .importKeys(file, passphrase: "x")))
    #expect(page.outcome == .failed(.wrongKey))
    try page.say(.command(2, .importKeys(Array("Dear Ann".utf8), passphrase: "p")))
    #expect(page.outcome == .failed(.notAKeyFile))
    try page.say(.command(3, .importKeys(Array(file.prefix(80)), passphrase: "p")))
    #expect(page.outcome == .failed(.keyFileCutOff))
    try page.say(.command(4, .importKeys(try Self.file(0, passphrase: "p"), passphrase: "p")))
    #expect(page.outcome == .imported(total: 0, new: 0, unusable: 0))
  }
}
