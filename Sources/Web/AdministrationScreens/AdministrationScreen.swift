import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The page for administrators of the server, in place of the rooms: its sections on one side, the one that is open beside them. Others
/// than administrators see only that it is not for them.
package final class AdministrationScreen<D: DOM> {
  private let context: AdministrationContext<D>
  private let dom: D
  private let root: Node
  private let main: Node
  private let sections: Node
  private var links: [(section: AdministrationAddress.Section, node: Node)] = []
  private var page: AdministrationPage<D>?
  private var address = AdministrationAddress(.overview)
  /// What the server said last; nil before it has.
  private var isAdministrator: Bool?

  package init(_ context: AdministrationContext<D>, in parent: Node) {
    self.context = context
    dom = context.dom
    root = dom.element("div", "ma-admin", in: parent)
    sections = dom.element("nav", "ma-admin-sections", in: root)
    dom.setLabel(sections, .administration)
    dom.markPart(sections)
    let back = dom.element("a", "ma-admin-link ma-admin-back", in: sections)
    dom.setAttribute(back, "href", "#")
    Drawing.back.draw(dom, in: back)
    dom.element("span", "ma-admin-back-words", text: .backToChats, in: back)
    main = dom.element("main", "ma-admin-main", in: root)
    dom.markPart(main)
    for section in AdministrationAddress.Section.allCases { addLink(section) }
  }

  @inline(never)
  package func close() {
    page?.close()
    dom.release(root)
  }

  private func addLink(_ section: AdministrationAddress.Section) {
    let link = dom.element("a", "ma-admin-link", in: sections)
    dom.setAttribute(link, "href", "#" + AdministrationAddress(section).fragment)
    section.drawing.draw(dom, in: link)
    dom.element("span", text: section.title, in: link)
    links.append((section, link))
  }

  // MARK: Places

  @inline(never)
  package func show(_ address: AdministrationAddress) {
    self.address = address
    for link in links {
      if link.section == address.section {
        dom.setAttribute(link.node, "aria-current", "page")
        // On a phone it may be beyond the edge; the heading takes the focus over.
        dom.focus(link.node)
      } else {
        dom.removeAttribute(link.node, dom.atom("aria-current"))
      }
    }
    if isAdministrator == true { open() } else { check() }
  }

  @inline(never)
  package func takeFocus() { page?.takeFocus() }

  private func newPage() -> AdministrationPage<D> {
    page?.close()
    let page = AdministrationPage(context, address, in: main)
    page.onRefused = { [self] in check() }
    self.page = page
    return page
  }

  /// Asks whether the person administers the server, at first and after a refusal: the right may have been taken away.
  private func check() {
    let page = newPage()
    page.setTitle(Strings[.administration])
    let note = dom.element("p", "ma-note", text: .adminLoading, in: page.body)
    context.ask(.capabilities()) { [self] result in
      guard page.isOpen else { return }
      switch result {
      case .success(let capabilities):
        isAdministrator = capabilities.isAdministrator
        if capabilities.isAdministrator { return open() }
        dom.setFlag(sections, "hidden", true)
        dom.setText(note, .onlyAdministrators)
        addWayBack(to: page.body)
      case .failure(let error):
        dom.setText(note, Strings.words(for: error))
        let again = dom.button("ma-button", .retry, in: page.body)
        dom.on(again, .click) { [self] _ in check() }
      }
    }
    page.takeFocus()
    dom.flush()
  }

  private func addWayBack(to body: Node) {
    let back = dom.button("ma-button", .backToChats, in: body)
    dom.on(back, .click) { [context] _ in context.goTo(nil) }
  }

  private func open() {
    dom.setFlag(sections, "hidden", false)
    let page = newPage()
    page.setTitle(Strings[address.section.title])
    let subject = address.subject
    switch address.section {
    case .overview: OverviewSection(page)
    case .users: if let user = UserID(subject.string) { UserDetailsSection(page, user) } else { UsersSection(page) }
    case .registration: RegistrationSection(page)
    case .rooms: if let room = RoomID(subject.string) { RoomDetailsSection(page, room) } else { RoomsSection(page) }
    case .reports: if let number = Int64(subject.string) { ReportDetailsSection(page, number) } else { ReportsSection(page) }
    case .media: MediaSection(page)
    case .notices: NoticeSection(page)
    case .audit: AuditSection(page)
    }
    page.takeFocus()
    dom.flush()
  }
}

extension AdministrationAddress.Section {
  var title: Strings.Key {
    switch self {
    case .overview: .adminOverview
    case .users: .adminUsers
    case .registration: .adminRegistration
    case .rooms: .rooms
    case .reports: .adminReports
    case .media: .adminMedia
    case .notices: .adminNotices
    case .audit: .adminAudit
    }
  }

  var drawing: Drawing {
    switch self {
    case .overview: .poll
    case .users: .people
    case .registration: .link
    case .rooms: .hash
    case .reports: .flag
    case .media: .picture
    case .notices: .bell
    case .audit: .clock
    }
  }
}
