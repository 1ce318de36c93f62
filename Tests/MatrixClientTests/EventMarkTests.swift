import JSON
import Olm
import Testing

@testable import ClientCore
@testable import Encryption

/// The machine writes marks into events, and the timeline reads them. The modules of both sides do not know each other.
@Suite struct EventMarkTests {
  @Test func `every reason that the machine writes is read as the same reason`() throws {
    let reasons: [(Undecryptable, UndecryptableReason)] = [
      (.missingKey, .waiting), (.beforeJoining, .beforeJoining), (.unsignedDevice, .unsignedDevice),
      (.identityChanged, .identityChanged), (.replayed, .replayed), (.damaged, .damaged), (.unknownAlgorithm, .damaged),
      (.ofAnotherRoom, .damaged), (.historyUnavailable(.noBackup), .historyUnavailable(.noBackup)),
      (.historyUnavailable(.unverifiedDevice), .historyUnavailable(.unverifiedDevice)),
      (.withheld(.blacklisted), .withheld(.blacklisted)), (.withheld(.unverified), .withheld(.unverified)),
      (.withheld(.unauthorised), .withheld(.unauthorised)), (.withheld(.unavailable), .withheld(.unavailable)),
      (.withheld(.noOlm), .withheld(.noOlm)), (.withheld(.historyNotShared), .withheld(.historyNotShared))
    ]
    for (written, read) in reasons {
      let content = try JSON.object { $0.member(EncryptedAnswer.reason, written.name) }
      #expect(UndecryptableReason(ofEncrypted: content) == read, "\(written)")
    }
  }

  @Test func `every trust that the machine writes is read as the same trust`() throws {
    let claimed = try #require(Curve25519Key([UInt8](repeating: 9, count: 32)))
    let levels: [(SenderTrust, MessageTrust)] = [
      (.verified, .verified), (.pinned, .pinned), (.unsignedDevice, .unsignedDevice), (.unknownDevice, .unknownDevice),
      (.notProven(claimed), .notProven), (.identityChanged, .identityChanged)
    ]
    for (written, read) in levels {
      #expect(MessageTrust(mark: try JSON.object { $0.member("trust", written.name) }) == read, "\(written)")
    }
    #expect("\(MessageTrust.mark)" == "\(EncryptedAnswer.mark)")
  }
}
