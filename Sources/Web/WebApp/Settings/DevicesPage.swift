import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
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
    load()
  }

  private func load() {
    dom.releaseChildren(of: list)
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
    }
    dom.flush()
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
    let name = device.name.flatMap { $0.isEmpty ? nil : $0.string } ?? device.id.string
    let lines = dom.element("div", "ma-entry-lines", in: line)
    dom.element("span", "ma-entry-name", text: name, in: lines)
    var seen = device.lastSeenMilliseconds.map { Strings[.lastSeen, Host.dateTimeLabel($0)] } ?? ""
    if let address = device.lastSeenIP { seen += (seen.utf8.isEmpty ? "" : " · ") + address.string }
    dom.element("span", "ma-entry-preview", text: seen, in: lines)
    if isThis(device) { dom.element("span", "ma-remark", text: .thisDevice, in: lines) }
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
