import EncryptionLink
import JSON
import MatrixModel
import Testing

@testable import ClientCore
@testable import ClientHost
@testable import WebHost

@Suite struct RoomHistoriesTests {
  private static let room = RoomID(trusted: "!tea:one.example"), bob = UserID(trusted: "@bob:one.example")

  /// What was uploaded while a history was given, and whether that ended.
  private static func given(of desk: EncryptionDesk) -> (uploads: [[UInt8]], isOver: Bool) {
    let histories = RoomHistories(desk.page)
    var uploads: [[UInt8]] = [], isOver = false
    histories.upload = { bytes, then in
      uploads.append(bytes)
      then(MediaURI("mxc://one.example/history"))
    }
    histories.give(room, to: [bob]) { isOver = true }
    for _ in 0..<10 { desk.settle() }
    return (uploads, isOver)
  }

  @Test
  func
    `only keys that later members may have are uploaded, as ciphertext, and who has no device does not hold up the invitation`()
  {
    let desk = EncryptionDesk()
    desk.signIn()
    desk.encrypt(5)
    desk.settle()
    let nothing = Self.given(of: desk)
    #expect(nothing.uploads.isEmpty && nothing.isOver)
    desk.encrypt(6, sharesHistory: true)
    desk.settle()
    let shared = Self.given(of: desk)
    #expect(shared.uploads.count == 1 && shared.isOver)
    #expect(shared.uploads.allSatisfy { $0.first != UInt8(ascii: "{") && (try? JSON.parse($0)) == nil })
  }

  @Test(arguments: [(200, 1), (404, 1), (413, 1), (0, 0), (503, 0)])
  func `an offered history is fetched; one that is damaged or gone is given up, one that cannot be had now is not`(
    status: Int, takings: Int
  ) throws {
    let page = PageEncryption()
    let histories = RoomHistories(page)
    var sent: [EncryptionRequest] = [], fetched: [MediaURI] = []
    page.connect = { page.send = { if let request = try? EncryptionRequest.read($0).request { sent.append(request) } } }
    page.follow(Session(userID: Self.bob, deviceID: DeviceID(trusted: "DESK"), accessToken: "secret"))
    page.begin()
    histories.fetch = { source, limit, then in
      fetched.append(source)
      then([UInt8]([1, 2, 3]).withUnsafeBytes { HostResponse(status: Int32(status), headCount: 0, bytes: $0) })
    }
    let keys = try #require(
      FileKeys(
        key: ByteString(String(repeating: "A", count: 43)), counter: ByteString(String(repeating: "A", count: 22)),
        digest: ByteString(String(repeating: "A", count: 43))))
    var writer = JSONWriter()
    EncryptedFile(try #require(MediaURI("mxc://one.example/history")), keys).write(to: &writer)
    var step = EncryptionReport.Step()
    step.later = [.history(room: Self.room.text, from: "@ann:one.example", writer.bytes)]
    page.heard(EncryptionReport.step(step).bytes)
    page.takeHeld()?.then(true)
    #expect(fetched.count == 1)
    let taken = sent.compactMap { request -> EncryptionAction.SealedFile? in
      if case .command(_, .takeHistory("!tea:one.example", from: "@ann:one.example", let file)) = request { file } else { nil }
    }
    #expect(taken.count == takings)
    #expect(taken.allSatisfy { $0.bytes == (status == 200 ? [1, 2, 3] : []) })
  }
}
