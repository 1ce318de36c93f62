import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// All accounts: searched, filtered, made.
struct UsersSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let dom = page.dom
    let tools = page.tools()
    var filter = UserFilter.everybody
    let list = AdministrationList<D, AdministeredUser>(
      page, .adminUsers, [.userName, .adminStatus, .adminCreated, .adminLastSeen], search: .adminSearchUsers,
      empty: .nothingFound, tools: tools,
      ask: { search, request in
        .administeredUsers(
          matching: search, filter, from: request.from, limit: AdministrationList<D, AdministeredUser>.pageItems)
      },
      fill: { user, row in
        let name = row.cell("", "ma-admin-who")
        page.avatar(user, in: name)
        let lines = dom.element("span", "ma-entry-lines", in: name)
        page.link(user.title.string, .users, user.id.text, in: lines)
        if user.name != nil { dom.element("bdi", "ma-entry-preview", text: user.id.string, in: lines) }
        page.chips(of: user, in: row.cell("", "ma-admin-chips"))
        _ = row.cell(user.created.map { Host.shortLabel($0) } ?? "")
        _ = row.cell(user.lastSeen.map { Host.shortLabel($0) } ?? Strings[.adminNever])
      })
    Choice(
      dom, Strings[.adminShow], UserFilter.allCases.map { ($0.name.description, Strings[$0.words]) },
      selected: filter.name.description, in: tools
    ) { chosen in
      filter = UserFilter.allCases.first { $0.name.description.hasSameBytes(as: chosen) } ?? .everybody
      list.reload()
    }
    let create = dom.button("ma-button ma-primary", .adminCreateUser, icon: .plus, in: tools)
    dom.on(create, .click) { _ in page.openDialog { Self.askNewUser(page, in: $0) } }
  }

  private static func askNewUser(_ page: AdministrationPage<D>, in frame: DialogFrame<D>) {
    let dom = page.dom
    var (name, displayName, password): (Field<D>?, Field<D>?, Field<D>?)
    var isAdministrator = false
    FormDialog(
      dom, Strings[.adminCreateUser], action: .adminCreate, in: frame,
      fields: { form in
        let first = Field(dom, .userName, hint: .newUserNameHint, in: form)
        name = first
        frame.setFirst(first.input)
        displayName = Field(dom, .displayName, in: form)
        password = Field(
          dom, .password, kind: "password", autocomplete: "new-password", hint: .newPasswordHint, in: form)
        CheckBox(dom, Strings[.adminMakeAdministrator], isOn: false, in: form) { isAdministrator = $0 }
      }
    ) { dialog in
      guard let name, let displayName, let password, let server = page.user?.serverName else { return }
      let typed = name.text.trimmed.asciiLowercased
      guard let user = UserID("@" + typed + ":" + server.string), !typed.utf8.isEmpty else {
        return dialog.fail(name, Strings[.userNameWrong])
      }
      guard password.text.utf8.count >= 8 else { return dialog.fail(password, Strings[.passwordShort]) }
      // Putting an account that is there would change it.
      page.context.ask(.administeredUser(user)) { result in
        if case .success = result { return dialog.fail(name, Strings[.userNameTaken]) }
        page.ask(
          .createUser(
            user, password: ByteString(password.text), name: ByteString(displayName.text.trimmed),
            isAdministrator: isAdministrator),
          failed: { dialog.fail(Strings.words(for: $0)) }
        ) { _ in
          dialog.end()
          page.go(to: .users, user.text)
        }
      }
    }
  }
}

extension UserFilter {
  fileprivate var words: Strings.Key {
    switch self {
    case .everybody: .adminEverybody
    case .administrators: .adminAdministrators
    case .locked: .adminLockedUsers
    case .deactivated: .adminDeactivatedUsers
    }
  }
}

extension AdministrationPage {
  func avatar(_ user: AdministeredUser, in parent: Node) {
    dom.avatar("ma-avatar-small", in: parent).show(
      id: user.id.string, name: user.title.string, source: context.avatarSource(user.avatar))
  }

  /// What is to be known of an account at a glance.
  func chips(of user: AdministeredUser, in parent: Node) {
    if user.isAdministrator { chip(.adminAdministrator, in: parent) }
    if user.isGuest { chip(.adminGuest, in: parent) }
    if user.isDeactivated { chip(.adminDeactivated, isTrouble: true, in: parent) }
    if user.isLocked { chip(.adminLocked, isTrouble: true, in: parent) }
    if user.isSuspended { chip(.adminSuspended, isTrouble: true, in: parent) }
    if user.isShadowBanned { chip(.adminShadowBanned, isTrouble: true, in: parent) }
    if let type = user.type { dom.element("span", "ma-remark", text: type.string, in: parent) }
  }
}
