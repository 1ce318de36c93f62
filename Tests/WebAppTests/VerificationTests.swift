import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

/// A signed-in page over a machine of which the test says what it reports.
private final class Desk {
  let page = Page()
  private var sent: [[UInt8]] = []

  init() {
    page.signIn()
    page.sync(answer: "")
    let encryption = page.app.effects.encryption
    encryption.connect = { [unowned self] in encryption.send = { [unowned self] in sent.append($0) } }
    encryption.begin()
  }

  func tell(
    _ verifications: [EncryptionReport.Verification] = [], isVerified: Bool = true,
    _ deliveries: [EncryptionReport.Delivery] = [], changed: [EncryptionReport.ChangedIdentity] = []
  ) {
    var step = EncryptionReport.Step()
    step.state.hasIdentity = true
    step.state.isVerified = isVerified
    step.state.changed = changed
    step.verifications = verifications
    step.deliveries = deliveries
    page.app.effects.encryption.heard(EncryptionReport.step(step).bytes)
  }

  func takeActions() -> [(number: UInt64, action: EncryptionAction)] {
    defer { sent = [] }
    return sent.compactMap { bytes in
      guard case .command(let number, let action)? = try? EncryptionRequest.read(bytes).request else { return nil }
      return (number, action)
    }
  }

  static func request(_ id: UInt64 = 3, by user: ByteString, isOurs: Bool = false, _ stage: EncryptionReport.Stage = .requested)
    -> EncryptionReport.Verification
  {
    let isOwn = user == "@alice:chat.example"
    return EncryptionReport.Verification(
      id: id, user: user, device: "PHONE", room: isOwn ? "" : "!chat:chat.example", isOwn: isOwn, isOurs: isOurs, deadline: 0,
      stage: stage)
  }

  var banner: String { page.all("ma-security").first?.allText ?? "" }
}

@Suite("Verifications in the page")
struct VerificationTests {
  @Test func `the request of a person stands above the rooms until it is ignored`() {
    let desk = Desk()
    desk.tell([Desk.request(by: "@boris:chat.example")])
    #expect(desk.banner == "personAsksVerify @boris:chat.exampleverifyignoreRequest")
    _ = desk.takeActions()
    desk.page.click("ignoreRequest")
    #expect(desk.takeActions().map(\.action) == [.verification(3, .cancel)])
    desk.tell([])
    #expect(desk.banner == "")
  }

  @Test func `the request of an own device says its name, and is accepted in a dialog`() {
    let desk = Desk()
    desk.tell([Desk.request(by: "@alice:chat.example")])
    #expect(desk.banner == "deviceAsksVerify PHONEverifyignoreRequest")
    desk.page.answer("/devices", #"{"devices":[{"device_id":"PHONE","display_name":"My phone"}]}"#)
    #expect(desk.banner == "deviceAsksVerify My phoneverifyignoreRequest")
    _ = desk.takeActions()
    desk.page.click("verify")
    #expect(desk.takeActions().map(\.action) == [.verification(3, .accept)])
    #expect(desk.page.all("ma-dialog").last?.allText.contains("verifyAgreeing") == true)
  }

  @Test func `a browser that is not verified says so, and leads to the two ways`() {
    let desk = Desk()
    desk.tell(isVerified: false)
    #expect(desk.banner == "browserUnverifiedconfirmYounotNow")
    desk.page.click("confirmYou")
    let ways = desk.page.all("ma-home-card").filter { desk.page.all("ma-dialog").last?.allText.contains($0.allText) == true }
    #expect(ways.map(\.allText) == ["useOtherDeviceuseOtherDeviceNote", "useRecoveryKeyuseRecoveryKeyNote"])
    _ = desk.takeActions()
    desk.page.dom.fire(.click, on: ways[0].node)
    #expect(desk.takeActions().map(\.action) == [.verifyDevice("")])
    desk.tell(isVerified: true)
    #expect(desk.banner == "")
  }

  @Test func `what ends without its dialog is told and forgotten`() {
    let desk = Desk()
    desk.tell([Desk.request(by: "@alice:chat.example", isOurs: true, .done)])
    #expect(desk.page.text.contains("deviceVerified"))
    #expect(desk.takeActions().contains { $0.action == .verification(3, .cancel) })
    desk.tell([Desk.request(by: "@boris:chat.example", .cancelled(.mismatchedSAS, isByUs: false))])
    #expect(desk.page.text.contains("verifyMismatch"))
    desk.tell([Desk.request(4, by: "@boris:chat.example", .cancelled(.timeout, isByUs: false))])
    #expect(desk.takeActions().map(\.action) == [.verification(3, .cancel), .verification(4, .cancel)])
  }

  @Test func `devices are said to be verified or not, and one that is not can be verified`() throws {
    let desk = Desk()
    desk.tell()
    desk.page.app.openSettings(at: .devices)
    desk.page.answer(
      "/devices", #"{"devices":[{"device_id":"OLD","display_name":"Phone"},{"device_id":"D"},{"device_id":"PLAIN"}]}"#)
    let asked = try #require(desk.takeActions().last)
    #expect(asked.action == .inspect(user: "@alice:chat.example"))
    let devices = [EncryptionReport.Device(id: "D", isVerified: true), .init(id: "OLD", isVerified: false)]
    desk.tell(
      [], [.ended(asked.number, .trust(EncryptionReport.Trust(hasIdentity: true, isVerified: true, devices: devices)))])
    #expect(desk.page.all("ma-trust").map(\.allText) == ["verified", "notVerified"])
    desk.page.click("verify: Phone")
    #expect(desk.takeActions().map(\.action) == [.verifyDevice("OLD")])
  }

  // MARK: News of keys

  private static func news(_ kind: EncryptionReport.News.Kind, _ user: ByteString, _ device: ByteString)
    -> [EncryptionReport.Delivery]
  { [.news(EncryptionReport.News(kind, of: user, device: device))] }

  @Test func `a new device of the user is asked about until the user says whether it is theirs`() {
    let desk = Desk()
    desk.tell()
    desk.tell([], Self.news(.deviceAppeared, "@boris:chat.example", "DESK"))
    #expect(desk.banner == "", "others may have as many as they like")
    desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", "PHONE"))
    #expect(desk.banner == "wasThisYou PHONEyesno")
    desk.page.answer("/devices", #"{"devices":[{"device_id":"PHONE","display_name":"My phone"}]}"#)
    #expect(desk.banner == "wasThisYou My phoneyesno")
    desk.page.click("yes")
    #expect(desk.banner == "")
    for device in ["TABLET", "TV"] as [ByteString] { desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", device)) }
    #expect(desk.banner == "wasThisYou TABLETyesno")
    desk.tell([], Self.news(.deviceGone, "@alice:chat.example", "TABLET"))
    #expect(desk.banner == "wasThisYou TVyesno")
    desk.page.click("no")
    #expect(desk.banner == "" && desk.page.text.contains("wasNotYou"))
    #expect(desk.page.all("ma-dialog").last?.allText.contains("loadingDevices") == true)
  }

  @Test func `a new device that asks to be verified is asked about once`() {
    let desk = Desk()
    desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", "PHONE"))
    desk.tell([Desk.request(by: "@alice:chat.example")])
    #expect(desk.banner == "newDeviceAsksVerify PHONEyesVerifyno")
    _ = desk.takeActions()
    desk.page.click("yesVerify")
    #expect(desk.takeActions().map(\.action) == [.verification(3, .accept)])
    desk.page.app.dialogs.closeAll()
    desk.tell([])
    #expect(desk.banner == "", "the user has said whose it is")
  }

  @Test func `a device that the user has recognized is not asked about again when it asks to be verified`() {
    let desk = Desk()
    desk.tell()
    desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", "PHONE"))
    desk.page.click("yes")
    _ = desk.takeActions()
    desk.tell([Desk.request(by: "@alice:chat.example")])
    #expect(desk.takeActions().map(\.action) == [.verification(3, .accept)])
    #expect(desk.page.all("ma-dialog").last?.allText.contains("verifyAgreeing") == true)
  }

  @Test func `a new device that the user does not know is declined, and the devices are shown`() {
    let desk = Desk()
    desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", "PHONE"))
    desk.tell([Desk.request(by: "@alice:chat.example")])
    _ = desk.takeActions()
    desk.page.click("no")
    #expect(desk.takeActions().map(\.action).contains(.verification(3, .cancel)) && desk.page.text.contains("wasNotYou"))
    desk.tell([])
    #expect(desk.banner == "")
  }

  @Test func `the recovery key is entered into one field, which says when it is wrong and closes when it is right`() throws {
    let desk = Desk()
    desk.tell(isVerified: false)
    desk.page.click("confirmYou")
    let way = try #require(desk.page.all("ma-home-card").first { $0.allText.hasPrefix("useRecoveryKey") })
    _ = desk.takeActions()
    desk.page.dom.fire(.click, on: way.node)
    let dialog = try #require(desk.page.all("ma-dialog").last)
    #expect(desk.page.all("ma-input", in: dialog).count == 1)
    for failure in [EncryptionReport.Failure.wrongKey, nil] {
      desk.page.type("EsTc 1234", into: "recoveryField")
      desk.page.submitForm()
      let asked = try #require(desk.takeActions().last)
      #expect(asked.action == .recover("EsTc 1234"))
      desk.tell([], isVerified: failure == nil, [.ended(asked.number, failure.map { .failed($0) } ?? .done(""))])
      #expect(desk.page.text.contains("wrongRecoveryKey") == (failure != nil))
    }
    #expect(desk.page.all("ma-dialog").isEmpty && desk.page.text.contains("recovered"))
  }

  @Test func `a device that the user verifies here is not asked about`() {
    let desk = Desk()
    desk.tell([], Self.news(.deviceAppeared, "@alice:chat.example", "PHONE"))
    desk.tell([Desk.request(by: "@alice:chat.example", .done)])
    #expect(desk.banner == "")
  }

  @Test func `changed keys of a member stand above the composer until they are accepted`() {
    let desk = Desk()
    let room = RoomID(trusted: "!den:chat.example")
    let join =
      #"{"type":"m.room.member","state_key":"@boris:chat.example","event_id":"$b","sender":"@boris:chat.example","#
      + #""origin_server_ts":1,"content":{"membership":"join","displayname":"Boris"}}"#
    let state = Self.encrypted.replacing(#"{"events":[{"#, with: #"{"events":["# + join + ",{", maxReplacements: 1)
    desk.page.sync([("!den:chat.example", state)])
    desk.page.app.goTo(.room(room))
    let bar = { desk.page.all("ma-changed-keys").first?.allText ?? "" }
    #expect(bar() == "")
    desk.tell(changed: [.init(user: "@carol:chat.example", wasVerified: false)])
    #expect(bar() == "", "she is not in the room")
    desk.tell(changed: [.init(user: "@boris:chat.example", wasVerified: false)])
    #expect(bar() == "keysChangedHere BorisverifyPerson BorisgoOnAnyway")
    desk.tell(changed: [.init(user: "@boris:chat.example", wasVerified: true)])
    #expect(bar() == "verifiedKeysChanged BorisverifyPerson BorisgoOnAnyway")
    _ = desk.takeActions()
    desk.page.click("goOnAnyway")
    #expect(desk.takeActions().map(\.action) == [.acceptIdentity(of: "@boris:chat.example")])
    desk.tell()
    #expect(bar() == "")
  }

  // MARK: A program that the server still builds

  private static let encrypted =
    #"{"state":{"events":[{"type":"m.room.encryption","state_key":"","event_id":"$e","sender":"@alice:chat.example","#
    + #""origin_server_ts":1,"content":{"algorithm":"m.megolm.v1.aes-sha2"}}]},"timeline":{"events":[]}}"#

  @Test func `what the server hides of somebody's keys is said where the person is shown, once for each kind`() {
    let desk = Desk()
    let bob = ByteString("@bob:chat.example")
    let news: [EncryptionReport.Delivery] = [
      .news(.init(.identityHidden, of: bob)), .news(.init(.identityHidden, of: bob)), .news(.init(.namesCollided, of: bob)),
      .news(.init(.deviceAppeared, of: bob, device: "PHONE"))
    ]
    desk.tell([], news)
    let line = desk.page.app.verifications.trustLine(in: .root)
    #expect(line.warnings(bob, "Bob") == ["identityHidden Bob", "namesCollided Bob"])
    #expect(line.warnings("@carl:chat.example", "Carl").isEmpty)
  }

  @Test func `that the server still builds the encryption is said in encrypted rooms and nowhere else`() {
    let desk = Desk()
    let encryption = desk.page.app.effects.encryption
    desk.page.sync([("!den:chat.example", Self.encrypted), ("!square:chat.example", #"{"timeline":{"events":[]}}"#)])
    encryption.setBuilding(true)
    #expect(desk.banner == "")
    desk.page.app.goTo(.room(RoomID(trusted: "!square:chat.example")))
    #expect(desk.banner == "")
    desk.page.app.goTo(.room(RoomID(trusted: "!den:chat.example")))
    #expect(desk.banner == "encryptionBuilding")
    desk.page.app.goTo(.list)
    #expect(desk.banner == "")
    desk.page.app.openSettings(at: .encryptionTab)
    #expect(desk.page.all("ma-dialog").last?.allText.contains("encryptionBuilding") == true)
    encryption.setBuilding(false)
    #expect(desk.page.all("ma-dialog").last?.allText.contains("encryptionBuilding") == false)
  }

  @Test func `what is to be encrypted waits while the server builds the encryption, or is begun without`() {
    let desk = Desk()
    let page = desk.page
    page.app.wishes = nil
    page.app.effects.encryption.setBuilding(true)
    var cancelled = 0
    func ended(_ result: CommandResult) { if case .failed(.cancelled) = result { cancelled += 1 } }
    func create() { page.app.ask(.rooms(.create(NewRoom(preset: .privateChat, isEncrypted: true))), ended) }
    create()
    #expect(page.all("ma-dialog").last?.allText.contains("awaitEncryptionNote") == true)
    page.click("cancel")
    #expect(cancelled == 1)
    #expect(page.body(of: "/createRoom").isEmpty)
    create()
    page.click("beginUnencrypted")
    let body = page.body(of: "/createRoom")
    #expect(!body.isEmpty && !body.contains("m.room.encryption"))
    page.app.ask(.rooms(.openDirectChat(with: "@carol:chat.example")), ended)
    #expect(page.all("ma-dialog").last?.allText.contains("awaitEncryptionNote") == true)
    page.app.dialogs.closeAll()
    #expect(cancelled == 2)
    for (answer, waits) in [
      (#"{"inviter":{"user_id":"@carol:chat.example"},"registration":false}"#, true),
      (#"{"inviter":{"user_id":"@carol:chat.example"},"room":{"name":"Garden","members":2},"registration":false}"#, false)
    ] {
      page.app.ask(.rooms(.joinByLink("sesame")), ended)
      page.answer("invite_links/describe", answer)
      #expect((page.all("ma-dialog").last?.allText.contains("awaitEncryptionNote") == true) == waits)
      page.app.dialogs.closeAll()
    }
    #expect(cancelled == 3)
  }

  // MARK: New rooms

  private static func created(_ wellKnown: String, _ change: (Page) -> Void = { _ in }) -> String {
    let page = Page()
    page.wellKnown = wellKnown
    page.signIn()
    page.sync(answer: "")
    page.app.dialogs.open { NewDialog(page.app, .room, in: $0) }
    page.type("Den", into: "roomName")
    change(page)
    page.submitForm()
    return page.body(of: "/createRoom")
  }

  private static func tick(_ words: String, _ isOn: Bool, in page: Page) {
    let line = page.all("ma-check").first { $0.allText == words }
    if let box = line?.tags("input").first { page.dom.fire(.change, on: box.node, x: isOn ? 1 : 0) }
  }

  @Test(arguments: [
    (#"{"io.element.e2ee":{"default":true}}"#, true, false), (#"{"io.element.e2ee":{"default":false}}"#, false, false),
    (#"{"martlet.encryption":{"new_rooms":"all"}}"#, true, true), (#"{"io.element.e2ee":{"force_disable":true}}"#, false, false)
  ]) func `new rooms are encrypted as the server wishes`(wellKnown: String, isPrivate: Bool, isPublic: Bool) {
    #expect(Self.created(wellKnown).contains("m.room.encryption") == isPrivate)
    let open = Self.created(wellKnown) { Self.tick("anyoneMayJoin", true, in: $0) }
    #expect(open.contains("public_chat") && open.contains("m.room.encryption") == isPublic)
  }

  @Test func `the creator of a room decides whether it is encrypted, unless the server forbids it`() {
    let off = Self.created(#"{"io.element.e2ee":{"default":true}}"#) { Self.tick("encryptRoom", false, in: $0) }
    #expect(off.contains("Den") && !off.contains("m.room.encryption"))
    let on = Self.created(#"{"io.element.e2ee":{"default":false}}"#) { Self.tick("encryptRoom", true, in: $0) }
    #expect(on.contains("m.room.encryption"))
    let forbidden = Self.created(#"{"io.element.e2ee":{"force_disable":true}}"#) { Self.tick("encryptRoom", true, in: $0) }
    #expect(forbidden.contains("Den") && !forbidden.contains("m.room.encryption"))
  }
}
