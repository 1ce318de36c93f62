import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import ClientHost
@testable import SecurityDialogs

/// The dialog over a machine of which the test says what it reports.
private final class Desk {
  let dom = FakeDOM()
  let encryption = PageEncryption()
  let frame: DialogFrame<FakeDOM>
  private(set) var dialog: VerificationDialog<FakeDOM>?
  private var sent: [[UInt8]] = []

  init(
    _ start: VerificationDialog<FakeDOM>.Start, with name: String = "", isVerified: Bool = true,
    known: EncryptionReport.Verification? = nil
  ) {
    frame = DialogFrame(dom)
    dom.append(frame.overlay, to: .root)
    encryption.connect = { [unowned self] in encryption.send = { [unowned self] in sent.append($0) } }
    encryption.follow(
      Session(userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "secret"))
    encryption.begin()
    encryption.onVerifications = { [unowned self] in dialog?.update() }
    tell(known, isVerified: isVerified)
    sent = []
    dialog = VerificationDialog(encryption, start, with: name, in: frame)
  }

  func tell(_ verification: EncryptionReport.Verification?, isVerified: Bool = true, ended: EncryptionReport.Delivery? = nil) {
    var step = EncryptionReport.Step()
    step.state.hasIdentity = true
    step.state.isVerified = isVerified
    step.verifications = verification.map { [$0] } ?? []
    step.deliveries = ended.map { [$0] } ?? []
    encryption.heard(EncryptionReport.step(step).bytes)
  }

  func tell(_ stage: EncryptionReport.Stage, isOurs: Bool = true) { tell(Self.verification(stage, isOurs: isOurs)) }

  static func verification(_ stage: EncryptionReport.Stage, isOurs: Bool = true) -> EncryptionReport.Verification {
    EncryptionReport.Verification(
      id: 7, user: "@ann:one.example", device: "PHONE", room: "", isOwn: true, isOurs: isOurs, deadline: 0, stage: stage)
  }

  /// What was asked of the machine since the last look.
  func takeActions() -> [(number: UInt64, action: EncryptionAction)] {
    defer { sent = [] }
    return sent.compactMap { bytes in
      guard case .command(let number, let action)? = try? EncryptionRequest.read(bytes).request else { return nil }
      return (number, action)
    }
  }

  /// A dialog whose request has the number 7.
  static func asked(with name: String = "", isVerified: Bool = true) throws -> Desk {
    let desk = Desk(.ask(.verifyDevice("PHONE")), with: name, isVerified: isVerified)
    let asked = try #require(desk.takeActions().first)
    #expect(asked.action == .verifyDevice("PHONE"))
    desk.tell(verification(.requested), isVerified: isVerified, ended: .ended(asked.number, .verification(7)))
    return desk
  }

  var words: String { dom[frame.body].allText }
  func press(_ words: String) throws {
    let button = try #require(dom[frame.body].tags("button").first { $0.allText == words }, "\(words) in \(self.words)")
    dom.fire(.click, on: button.node)
  }
}

@Suite("The dialog of a verification")
struct VerificationDialogTests {
  static let emoji = (0..<7).map {
    EncryptionReport.Emoji(number: UInt8(60 + $0 % 4), symbol: "🔔", name: ByteString("Bell \($0)"))
  }

  @Test func `it waits for the other side, begins to compare, and says so when both match`() throws {
    let desk = try Desk.asked()
    #expect(desk.words == "verifyWaitDevice")
    desk.tell(.ready(canCompare: true, code: [], canScan: false))
    #expect(desk.takeActions().map(\.action) == [.verification(7, .compare)])
    desk.tell(.agreeing)
    #expect(desk.words == "verifyAgreeing")
    desk.tell(.comparing(emoji: Self.emoji, decimals: []))
    #expect(desk.dom[desk.frame.body].all("ma-sas-entry").map(\.allText).first == "🔔Bell 0")
    #expect(desk.dom[desk.frame.body].all("ma-sas-entry").count == 7)
    try desk.press("theyMatch")
    #expect(desk.takeActions().map(\.action) == [.verification(7, .confirm)])
    desk.tell(.confirmed)
    desk.tell(.done)
    #expect(desk.words == "deviceVerifiedclose")
    try desk.press("close")
    #expect(!desk.frame.isOpen && desk.takeActions().map(\.action) == [.verification(7, .cancel)])
  }

  @Test func `who was asked does not begin, and numbers stand in for emoji`() throws {
    let desk = Desk(.join(7), with: "Boris", known: Desk.verification(.requested, isOurs: false))
    #expect(desk.takeActions().map(\.action) == [.verification(7, .accept)])
    desk.tell(.ready(canCompare: true, code: [], canScan: false), isOurs: false)
    #expect(desk.takeActions().isEmpty && desk.words == "verifyChoosecompareEmoji")
    try desk.press("compareEmoji")
    #expect(desk.takeActions().map(\.action) == [.verification(7, .compare)])
    desk.tell(.comparing(emoji: [], decimals: [1000, 9191, 5000]), isOurs: false)
    #expect(desk.words == "compareWithPerson Boris1000 – 9191 – 5000theyDiffertheyMatch")
    try desk.press("theyDiffer")
    #expect(desk.takeActions().map(\.action) == [.verification(7, .mismatch)])
  }

  @Test func `a code is drawn, and after it was scanned the person says whether it worked`() throws {
    let desk = try Desk.asked()
    desk.tell(.ready(canCompare: true, code: Array("MATRIX".utf8) + [2, 0, 255], canScan: true))
    let picture = try #require(desk.dom[desk.frame.body].first("ma-qr-code"))
    #expect(picture.attributes["aria-label"] == "verifyCode" && picture.attributes["role"] == "img")
    #expect(desk.takeActions().isEmpty)
    desk.tell(.scanned)
    #expect(desk.words == "codeScannedDevicenoyes")
    try desk.press("yes")
    #expect(desk.takeActions().map(\.action) == [.verification(7, .confirm)])
  }

  @Test(arguments: [
    (EncryptionReport.CancelReason.user, "verifyCancelled"), (.timeout, "verifyTimedOut"), (.accepted, "verifyElsewhere"),
    (.mismatchedSAS, "verifyMismatch"), (.keyMismatch, "verifyMismatch"), (.mismatchedCommitment, "verifyMismatch"),
    (.unknownMethod, "verifyNoWay"), (.unexpectedMessage, "verifyFailed"), (.other, "verifyFailed")
  ]) func `each end says what it means`(reason: EncryptionReport.CancelReason, words: String) throws {
    let desk = try Desk.asked()
    desk.tell(.cancelled(reason, isByUs: false))
    #expect(desk.words == words + "close")
  }

  @Test func `closing it ends what is under way, but not what is confirmed`() throws {
    let one = try Desk.asked()
    one.tell(.comparing(emoji: Self.emoji, decimals: []))
    one.frame.close()
    #expect(one.takeActions().map(\.action) == [.verification(7, .cancel)])
    let other = try Desk.asked()
    other.tell(.confirmed)
    other.frame.close()
    #expect(other.takeActions().isEmpty)
  }

  @Test func `what is asked for in vain says why, and what comes after it was closed is ended`() throws {
    let failed = Desk(.ask(.verifyDevice("")))
    let number = try #require(failed.takeActions().first?.number)
    failed.tell(nil, ended: .ended(number, .failed(.unreachable)))
    #expect(failed.words == "noAnswer")
    let closed = Desk(.ask(.verifyDevice("")))
    let late = try #require(closed.takeActions().first?.number)
    closed.frame.close()
    closed.tell(Desk.verification(.requested), ended: .ended(late, .verification(7)))
    #expect(closed.takeActions().map(\.action) == [.verification(7, .cancel)])
  }

  @Test func `a device that was not verified before says that it is now`() throws {
    let desk = try Desk.asked(isVerified: false)
    desk.tell(.done)
    #expect(desk.words == "recoveredclose")
  }

  @Test func `a verification that the machine has lost has failed`() throws {
    let desk = try Desk.asked()
    desk.tell(.agreeing)
    desk.tell(nil)
    #expect(desk.words == "verifyFailedclose")
  }
}
