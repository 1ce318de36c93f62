import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Above the rooms: somebody asks for a verification, this browser is not verified yet, the user has signed in somewhere else, or one waits for a
/// program that the server still builds.
final class SecurityBanner<D: DOM> {
  private enum Shown: Equatable { case nothing, request(UInt64), confirmYou, newDevice(DeviceID), building }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private let words: Node
  private let buttons: Node
  private var shown = Shown.nothing

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-banner ma-security", in: parent)
    Drawing.shield.draw(dom, in: node)
    words = dom.element("span", in: node)
    dom.setAttribute(words, "role", "status")
    buttons = dom.element("span", "ma-security-buttons", in: node)
    dom.setFlag(node, "hidden", true)
  }

  func update() {
    let request = app.verifications.requests.first
    let newDevice = app.verifications.newDevice
    let wanted: Shown =
      request.map { .request($0.id) }
      ?? (asksToConfirm ? .confirmYou : newDevice.map { .newDevice($0) } ?? (waitsForProgram ? .building : .nothing))
    guard wanted != shown else { return }
    shown = wanted
    dom.setFlag(node, "hidden", wanted == .nothing)
    dom.releaseChildren(of: buttons)
    if let request { return show(request) }
    if wanted == .confirmYou {
      showConfirmYou()
    } else if case .newDevice(let device) = wanted {
      show(device)
    } else {
      dom.setText(words, wanted == .building ? Strings[.encryptionBuilding] : "")
    }
  }

  /// Without an encrypted room in sight, and a device for which syncs wait, nobody waits.
  private var waitsForProgram: Bool {
    let encryption = app.effects.encryption
    guard encryption.isBuilding else { return false }
    return encryption.hasDevice || app.place.room.flatMap { app.client.room($0) }?.isEncrypted ?? false
  }

  private var asksToConfirm: Bool {
    guard let state = app.effects.encryption.state, let session = app.client.session else { return false }
    return state.hasIdentity && !state.isVerified
      && !(Host.setting(Settings.unconfirmed)?.hasSameBytes(as: session.deviceID.string) ?? false)
  }

  private func showConfirmYou() {
    dom.setText(words, .browserUnverified)
    add(.confirmYou) { [app] in app.verifications.confirmYou() }
    add(.notNow, isQuiet: true) { [self] in
      Host.setSetting(Settings.unconfirmed, app.client.session?.deviceID.string)
      update()
    }
  }

  private func show(_ request: EncryptionReport.Verification) {
    // A new device is asked about once.
    if app.verifications.isNew(request), let device = DeviceID(request.device) { return show(request, of: device) }
    dom.setText(words, Strings[request.isOwn ? .deviceAsksVerify : .personAsksVerify, name(of: request)])
    add(.verify) { [app] in app.verifications.join(request) }
    add(.ignoreRequest, isQuiet: true) { [app] in app.verifications.forget(request) }
    if request.isOwn { learnName(of: request.device, .deviceAsksVerify) }
  }

  private func show(_ request: EncryptionReport.Verification, of device: DeviceID) {
    dom.setText(words, Strings[.newDeviceAsksVerify, device.string])
    add(.yesVerify) { [app] in
      app.verifications.settle(device)
      app.verifications.join(request)
    }
    add(.no, isQuiet: true) { [self] in
      app.verifications.forget(request)
      refuse(device)
    }
    learnName(of: device.text, .newDeviceAsksVerify)
  }

  private func show(_ device: DeviceID) {
    dom.setText(words, Strings[.wasThisYou, device.string])
    add(.yes) { [app] in app.verifications.recognize(device) }
    add(.no, isQuiet: true) { [self] in refuse(device) }
    learnName(of: device.text, .wasThisYou)
  }

  private func refuse(_ device: DeviceID) {
    app.verifications.settle(device)
    app.notices.show(.wasNotYou, isTrouble: true)
    app.openSettings(at: .devices)
  }

  /// Says a sentence anew with what the device is called, once the server has said that; and when it was seen, if others are called the same.
  private func learnName(of device: ByteString, _ sentence: Strings.Key) {
    let asked = shown
    app.ask(.devices()) { [self] result in
      guard shown == asked, case .success(let devices) = result,
        let found = devices.first(where: { $0.id.text == device }), let name = found.name, !name.isEmpty
      else { return }
      var called = name.string
      if devices.contains(where: { $0.id != found.id && $0.name == name }),
        let time = found.signedInMilliseconds ?? found.lastSeenMilliseconds
      {
        called += " (" + Host.dateTimeLabel(time) + ")"
      }
      dom.setText(words, Strings[sentence, called])
      dom.flush()
    }
  }

  private func name(of request: EncryptionReport.Verification) -> String {
    request.isOwn ? request.device.string : app.verifications.name(of: request) ?? request.user.string
  }

  private func add(_ words: Strings.Key, isQuiet: Bool = false, _ run: @escaping () -> Void) {
    let button = dom.button(isQuiet ? "ma-button ma-small" : "ma-button ma-small ma-primary", words, in: buttons)
    dom.on(button, .click) { [dom] _ in
      run()
      dom.flush()
    }
  }
}
