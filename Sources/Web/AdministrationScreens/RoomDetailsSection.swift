import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// One room: what it is, who is in it, and the way out of it for everybody.
final class RoomDetailsSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let id: RoomID
  private let top: Node
  private let progress: Node
  private var isBlocked = false

  @discardableResult
  init(_ page: AdministrationPage<D>, _ id: RoomID) {
    self.page = page
    self.id = id
    dom = page.dom
    page.setTitle(id.string)
    top = dom.element("div", "ma-admin-part", in: page.body)
    progress = dom.element("p", "ma-note", in: page.body)
    dom.setAttribute(progress, "role", "status")
    dom.element("p", "ma-note", text: .adminLoading, in: top)
    load()
  }

  private func load() {
    page.ask(
      .administeredRoom(id),
      failed: { [self] in
        dom.releaseChildren(of: top)
        dom.element("p", "ma-trouble", text: Strings.words(for: $0), in: top)
        // A room that is gone may be blocked still.
        loadBlock(of: nil)
      }
    ) { [self] room in
      loadBlock(of: room)
      addMembers()
    }
  }

  private func loadBlock(of room: AdministeredRoom?) {
    page.ask(.isBlocked(id)) { [self] blocked in
      isBlocked = blocked
      if let room { show(room) } else { addBlock(id.string, in: page.tools(in: top)) }
    }
  }

  private func show(_ room: AdministeredRoom) {
    page.setTitle(room.title)
    dom.releaseChildren(of: top)
    let head = dom.element("div", "ma-admin-who", in: top)
    dom.element("bdi", "ma-copy-text", text: id.string, in: head)
    let chips = dom.element("span", "ma-admin-chips", in: head)
    page.chips(of: room, in: chips)
    if isBlocked { page.chip(.adminBlocked, isTrouble: true, in: chips) }
    page.facts(
      [
        (.address, room.alias?.string ?? ""), (.topic, room.topic?.string ?? ""), (.people, "\(room.members)"),
        (.adminCreator, room.creator?.string ?? ""), (.adminRoomVersion, room.version.string)
      ], in: top)
    let tools = page.tools(in: top)
    addBlock(room.title, in: tools)
    page.tool(.adminPurge, .clock, isDangerous: true, in: tools) { [self] in askPurge(room.title) }
    page.tool(.adminDeleteRoom, .bin, isDangerous: true, in: tools) { [self] in askDeletion(room.title) }
    dom.flush()
  }

  private func addBlock(_ name: String, in tools: Node) {
    if isBlocked {
      page.tool(.adminUnblock, in: tools) { [self] in
        page.ask(.block(id, false)) { [self] _ in
          page.say(.adminDone)
          load()
        }
      }
    } else {
      page.tool(.adminBlock, .eyeOff, in: tools) { [self] in
        page.confirm(
          Strings[.adminBlockQuestion, name], Strings[.adminBlockNote], action: .adminBlock, done: .adminDone,
          { [id] in .block(id, true) }
        ) { [self] _ in load() }
      }
    }
  }

  // MARK: Deletion

  private func askDeletion(_ name: String) {
    var blocks = false
    var reason: Field<D>?
    page.openDialog { [self] frame in
      FormDialog(
        dom, Strings[.adminDeleteRoomQuestion, name], Strings[.adminDeleteRoomNote], action: .adminDeleteRoom,
        isDangerous: true, in: frame,
        fields: { [self] form in
          reason = Field(dom, .reasonOptional, in: form)
          CheckBox(dom, Strings[.adminBlockToo], isOn: false, in: form) { blocks = $0 }
        }
      ) { [self] dialog in
        page.ask(
          .delete(id, blocks: blocks, reason: ByteString(reason?.text.trimmed ?? "")),
          failed: { dialog.fail(Strings.words(for: $0)) }
        ) { [self] task in
          dialog.end()
          follow({ .deletion(task) }, .adminDeleting, .adminRoomDeleted) { [self] in page.go(to: .rooms) }
        }
      }
    }
  }

  private func askPurge(_ name: String) {
    var day: Field<D>?
    page.openDialog { [self] frame in
      FormDialog(
        dom, Strings[.adminPurgeQuestion, name], Strings[.adminPurgeNote], action: .adminPurge, isDangerous: true, in: frame,
        fields: { [self] form in
          let field = Field(dom, .adminOlderThan, kind: "date", in: form)
          day = field
          frame.setFirst(field.input)
        }
      ) { [self] dialog in
        guard let day else { return }
        guard let number = CalendarDay(day.text)?.number else { return dialog.fail(day, Strings[.adminDayMissing]) }
        page.ask(
          .purgeHistory(of: id, before: Host.startOfDay(number)), failed: { dialog.fail(Strings.words(for: $0)) }
        ) { [self] task in
          dialog.end()
          follow({ .purge(task) }, .adminPurging, .adminPurged) {}
        }
      }
    }
  }

  private func follow(
    _ query: @escaping () -> Query<TaskProgress>, _ words: Strings.Key, _ done: Strings.Key, _ then: @escaping () -> Void
  ) {
    page.follow(
      query, in: progress, { $0.done > 0 ? Strings[words] + " " + Strings[.members, count: Int($0.done)] : Strings[words] }
    ) {
      [self] ended in
      if ended.state == .failed {
        dom.setText(progress, Strings[.adminFailed, ended.error.string])
      } else {
        dom.setText(progress, Strings[done])
        page.say(done)
        then()
      }
    }
  }

  // MARK: Members

  private func addMembers() {
    guard !hasMembers else { return }
    hasMembers = true
    let part = page.part(.people)
    let note = dom.element("p", "ma-note", text: .adminLoading, in: part)
    let list = dom.element("ul", "ma-admin-names", in: part)
    page.ask(.administeredMembers(of: id)) { [self] users in
      dom.setText(note, users.isEmpty ? Strings[.adminNobody] : "")
      for user in users.prefix(Self.membersLimit) {
        let item = dom.element("li", in: list)
        if user.serverName == page.user?.serverName {
          page.link(user.string, .users, user.text, in: item)
        } else {
          dom.element("span", text: user.string, in: item)
        }
      }
      if users.count > Self.membersLimit {
        dom.setText(note, Strings[.adminShown, "\(Self.membersLimit)", "\(users.count)"])
      }
    }
  }

  private var hasMembers = false

  /// Members that are named; beyond that nobody reads them one by one.
  private static var membersLimit: Int { 500 }
}
