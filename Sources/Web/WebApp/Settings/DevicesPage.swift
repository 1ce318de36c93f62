import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// Where the account is signed in.
final class DevicesPage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let list: Node
  private let others: Node
  private let note: Node
  private let again: MoreButton<D>
  private var otherIDs: [DeviceID] = []
  /// Of each device the place for what is known of its keys.
  private var shields: [(device: Device, place: Node)] = []

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    list = dom.element("div", "ma-directory", in: page)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .devices)
    note = frame.trouble(in: page)
    again = MoreButton(dom, busy: .loadingDevices, in: page)
    others = dom.button("ma-button ma-danger ma-wide", .signOutOthers, in: page)
    dom.setFlag(others, "hidden", true)
    dom.on(others, .click) { [self] _ in if !otherIDs.isEmpty { end(.deleteDevices(otherIDs)) } }
    again.onPress = { [self] in load() }
    app.verifications.onDone = { [self] in if frame.isOpen { inspect() } }
    load()
  }

  private func load() {
    dom.releaseChildren(of: list)
    shields = []
    if !again.isShown { dom.element("p", "ma-note", text: .loadingDevices, in: list) }
    dom.setText(note, "")
    again.begin()
    app.ask(.devices()) { [self] result in
      guard frame.isOpen else { return }
      dom.releaseChildren(of: list)
      guard case .success(let devices) = result else {
        again.fail()
        return failed(result)
      }
      again.end(hasMore: false)
      otherIDs = []
      for device in devices where isThis(device) { add(device) }
      for device in devices where !isThis(device) {
        otherIDs.append(device.id)
        add(device)
      }
      dom.setFlag(others, "hidden", otherIDs.isEmpty)
      inspect()
    }
    dom.flush()
  }

  // MARK: Verified or not

  private func inspect() {
    guard app.effects.encryption.isBegun, let user = app.userID else { return }
    app.effects.encryption.perform(.inspect(user: user.text)) { [self] outcome in
      guard frame.isOpen, case .trust(let trust)? = outcome else { return }
      for (device, place) in shields {
        dom.releaseChildren(of: place)
        if let keys = trust.devices.first(where: { $0.id == device.id.text }) { show(keys, trust, of: device, in: place) }
      }
      dom.flush()
    }
  }

  /// As long as this device is not verified, it cannot know which others are.
  private func show(_ keys: EncryptionReport.Device, _ trust: EncryptionReport.Trust, of device: Device, in place: Node) {
    guard trust.hasIdentity, trust.isVerified || isThis(device) else { return }
    TrustMark(dom, isVerified: keys.isVerified, in: place)
    guard !keys.isVerified else { return }
    let verify = dom.button("ma-button ma-small", isThis(device) ? .confirmYou : .verify, in: place)
    if !isThis(device) { dom.setLabel(verify, Strings[.verify, of: name(of: device)]) }
    dom.on(verify, .click) { [app, self] _ in
      if isThis(device) { app.verifications.confirmYou() } else { app.verifications.verifyOwn(device.id) }
    }
  }

  private func name(of device: Device) -> String {
    device.name.flatMap { $0.isEmpty ? nil : $0.string } ?? device.id.string
  }

  private func failed<Answer>(_ result: Result<Answer, ClientError>) {
    guard frame.isOpen, case .failure(let error) = result else { return }
    if case .cancelled = error { return }
    dom.setText(note, Strings.words(for: error))
  }

  private func isThis(_ device: Device) -> Bool { device.id == app.client.session?.deviceID }

  private func add(_ device: Device) {
    let line = dom.element("div", "ma-listed ma-device", in: list)
    dom.setAttribute(line, "role", "listitem")
    let name = name(of: device)
    let lines = dom.element("div", "ma-entry-lines", in: line)
    dom.element("span", "ma-entry-name", text: name, in: lines)
    let known = [
      device.signedInMilliseconds.map { Strings[.signedInAt, Host.dateTimeLabel($0)] },
      device.lastSeenMilliseconds.map { Strings[.lastSeen, Host.dateTimeLabel($0)] }, device.lastSeenIP?.string
    ]
    var said = ""
    for words in known { if let words { said += (said.utf8.isEmpty ? "" : " · ") + words } }
    dom.element("span", "ma-entry-preview", text: said, in: lines)
    if isThis(device) { dom.element("span", "ma-remark", text: .thisDevice, in: lines) }
    shields.append((device, dom.element("span", "ma-trust-line", in: line)))
    let rename = dom.button("ma-button ma-small", .rename, in: line)
    dom.setLabel(rename, Strings[.rename, of: name])
    dom.on(rename, .click) { [self] _ in askName(device) }
    guard !isThis(device) else { return }
    let out = dom.button("ma-button ma-small ma-danger", .logOut, in: line)
    dom.setLabel(out, Strings[.logOut, of: name])
    dom.on(out, .click) { [self] _ in end(.deleteDevice(device.id)) }
  }

  private func askName(_ device: Device) {
    app.dialogs.open {
      _ = PromptDialog(
        app, .rename, label: .deviceName, text: device.name?.string ?? "", action: .save,
        busy: .saving, in: $0,
        run: { [app] text, ended in
          app.save(.renameDevice(device.id, ByteString(text)), ended)
          return true
        }, { [self] _ in load() })
    }
  }

  private func end(_ query: Query<Void>) {
    dom.setText(note, "")
    app.askSurely(query) { [self] result in
      guard frame.isOpen else { return }
      if case .success = result { load() } else { failed(result) }
    }
  }
}
