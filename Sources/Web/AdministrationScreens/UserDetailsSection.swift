import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// One account: what it is, what can be done with it, its devices, rooms and files.
final class UserDetailsSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let id: UserID
  private let top: Node
  private var user: AdministeredUser?

  @discardableResult
  init(_ page: AdministrationPage<D>, _ id: UserID) {
    self.page = page
    self.id = id
    dom = page.dom
    page.setTitle(id.string)
    top = dom.element("div", "ma-admin-part", in: page.body)
    dom.element("p", "ma-note", text: .adminLoading, in: top)
    load()
    addDevices()
    addRooms()
    FileTable(page, of: id)
  }

  private func load() {
    page.ask(
      .administeredUser(id),
      failed: { [self] in
        dom.releaseChildren(of: top)
        dom.element("p", "ma-trouble", text: Strings.words(for: $0), in: top)
        page.tool(.retry, in: page.tools(in: top)) { [self] in load() }
      }
    ) { [self] in show($0) }
  }

  private func show(_ user: AdministeredUser) {
    self.user = user
    page.setTitle(user.title.string)
    dom.releaseChildren(of: top)
    let head = dom.element("div", "ma-admin-who", in: top)
    page.avatar(user, in: head)
    dom.element("bdi", "ma-copy-text", text: id.string, in: head)
    page.chips(of: user, in: dom.element("span", "ma-admin-chips", in: head))
    page.facts(
      [
        (.adminCreated, user.created.map { Host.dateTimeLabel($0) } ?? ""),
        (.adminLastSeen, user.lastSeen.map { Host.dateTimeLabel($0) } ?? Strings[.adminNever]),
        (.email, Strings.listed(user.emails))
      ], in: top)
    addTools(user)
    dom.flush()
  }

  // MARK: What can be done

  private func addTools(_ user: AdministeredUser) {
    let tools = page.tools(in: top)
    let name = user.title.string
    guard !user.isDeactivated else { return }
    page.tool(.adminSendNotice, .bell, in: tools) { [self] in NoticeSection<D>.askNotice(page, to: id) }
    page.tool(.adminResetPassword, .lock, in: tools) { [self] in askPassword(name) }
    // Nobody takes the right to administer from themselves, nor locks themselves out.
    guard id != page.user else { return }
    if user.isAdministrator {
      change(.adminTakeAdministration, .adminTakeQuestion, note: .adminTakeNote, name, in: tools) { [id] in
        .setAdministrator(id, false)
      }
    } else {
      change(.adminMakeAdministrator, .adminMakeQuestion, note: .adminMakeNote, name, in: tools) { [id] in
        .setAdministrator(id, true)
      }
    }
    if user.isLocked {
      page.tool(.adminUnlock, in: tools) { [self] in run(.setLocked(id, false)) }
    } else {
      change(.adminLock, .adminLockQuestion, note: .adminLockNote, name, in: tools) { [id] in .setLocked(id, true) }
    }
    if user.isSuspended {
      page.tool(.adminUnsuspend, in: tools) { [self] in run(.setSuspended(id, false)) }
    } else {
      change(.adminSuspend, .adminSuspendQuestion, note: .adminSuspendNote, name, in: tools) { [id] in
        .setSuspended(id, true)
      }
    }
    page.tool(.adminDeactivate, .bin, isDangerous: true, in: tools) { [self] in askDeactivation(name) }
  }

  private func change(
    _ words: Strings.Key, _ question: Strings.Key, note: Strings.Key, _ name: String, in tools: Node,
    _ query: @escaping () -> Query<Void>
  ) {
    page.tool(words, in: tools) { [self] in
      page.confirm(Strings[question, name], Strings[note], action: words, done: .adminDone, query) { [self] _ in load() }
    }
  }

  private func run(_ query: Query<Void>) {
    page.ask(query) { [self] _ in
      page.say(.adminDone)
      load()
    }
  }

  private func askPassword(_ name: String) {
    var password: Field<D>?
    var endsDevices = true
    page.openDialog { [self] frame in
      FormDialog(
        dom, Strings[.adminResetQuestion, name], Strings[.adminResetNote], action: .adminResetPassword, in: frame,
        fields: { [self] form in
          let field = Field(
            dom, .newPassword, kind: "password", autocomplete: "new-password", hint: .newPasswordHint, in: form)
          password = field
          frame.setFirst(field.input)
          CheckBox(dom, Strings[.adminEndDevices], isOn: true, in: form) { endsDevices = $0 }
        }
      ) { [self] dialog in
        guard let password else { return }
        guard password.text.utf8.count >= 8 else { return dialog.fail(password, Strings[.passwordShort]) }
        page.ask(
          .resetPassword(of: id, to: ByteString(password.text), endsDevices: endsDevices),
          failed: { dialog.fail(Strings.words(for: $0)) }
        ) { [self] _ in
          dialog.end()
          page.say(.adminDone)
        }
      }
    }
  }

  private func askDeactivation(_ name: String) {
    var erases = false
    page.openDialog { [self] frame in
      FormDialog(
        dom, Strings[.adminDeactivateQuestion, name], Strings[.adminDeactivateNote], action: .adminDeactivate,
        isDangerous: true, in: frame,
        fields: { [self] form in CheckBox(dom, Strings[.adminErase], isOn: false, in: form) { erases = $0 } }
      ) { [self] dialog in
        page.ask(.deactivate(id, erases: erases), failed: { dialog.fail(Strings.words(for: $0)) }) { [self] _ in
          dialog.end()
          page.say(.adminDone)
          load()
        }
      }
    }
  }

  // MARK: Devices and rooms

  private func addDevices() {
    let part = page.part(.devices)
    let table = CardTable(dom, .devices, [.deviceName, .adminLastSeen, .adminAddress, .adminActions], in: part)
    let note = dom.element("p", "ma-note", text: .adminLoading, in: part)
    let tools = page.tools(in: part)
    func load() {
      page.ask(.devices(of: id)) { [self] devices in
        table.clear()
        dom.releaseChildren(of: tools)
        table.setHidden(devices.isEmpty)
        dom.setText(note, devices.isEmpty ? Strings[.adminNoDevices] : "")
        for device in devices {
          var row = table.row()
          let name = device.name.flatMap { $0.isEmpty ? nil : $0.string } ?? device.id.string
          _ = row.cell(name)
          _ = row.cell(device.lastSeen.map { Host.dateTimeLabel($0) } ?? "")
          _ = row.cell(device.address?.string ?? "")
          let out = page.tool(.logOut, in: row.cell("", "ma-admin-end")) { end([device], name) }
          dom.setLabel(out, Strings[.logOut, of: name])
        }
        if devices.count > 1 {
          page.tool(.adminEndAll, isDangerous: true, in: tools) { end(devices, Strings[.adminAllDevices]) }
        }
        dom.flush()
      }
    }
    func end(_ devices: [AdministeredDevice], _ name: String) {
      page.confirm(
        Strings[.adminEndQuestion, name, user?.title.string ?? id.string], action: .logOut, done: .adminDone,
        { [id] in .endDevices(devices.map { $0.id }, of: id) }
      ) { _ in load() }
    }
    load()
  }

  private func addRooms() {
    let part = page.part(.rooms)
    let note = dom.element("p", "ma-note", text: .adminLoading, in: part)
    let list = dom.element("ul", "ma-admin-names", in: part)
    page.ask(.joinedRooms(of: id)) { [self] rooms in
      var items: [(room: RoomID, item: Node)] = []
      dom.setText(note, rooms.isEmpty ? Strings[.adminNoRooms] : "")
      for room in rooms.prefix(Self.roomsLimit) {
        let item = dom.element("li", in: list)
        page.link(room.string, .rooms, room.text, in: item)
        items.append((room, item))
      }
      name(items[...])
      if rooms.count > Self.roomsLimit {
        dom.setText(note, Strings[.adminShown, "\(Self.roomsLimit)", "\(rooms.count)"])
      }
    }
  }

  /// One after the other: the list that the server gives has only IDs.
  private func name(_ rooms: ArraySlice<(room: RoomID, item: Node)>) {
    guard let (id, item) = rooms.first else { return }
    page.ask(.administeredRoom(id), failed: { [self] _ in name(rooms.dropFirst()) }) { [self] room in
      dom.releaseChildren(of: item)
      page.link(room.title, .rooms, id.text, in: item)
      name(rooms.dropFirst())
    }
  }

  /// Rooms that are named; beyond that nobody reads them one by one.
  private static var roomsLimit: Int { 50 }
}

extension Strings {
  /// Some words in a row.
  static func listed(_ words: [ByteString]) -> String {
    var text = ""
    for word in words { text += (text.utf8.isEmpty ? "" : ", ") + word.string }
    return text
  }
}
