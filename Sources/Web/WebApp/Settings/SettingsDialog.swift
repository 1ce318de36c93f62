import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger

/// What a person can set: about themselves, what they are told of, how the page looks, their devices, their account.
final class SettingsDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let pages: [Node]
  private var isMade: [Bool]

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(.settings, look: "ma-settings")
    let tabs = Tabbed(dom, [.profileTab, .notifications, .appearance, .devices, .account], in: frame.body)
    pages = (0..<5).map { _ in app.dom.element("div", "ma-page", in: frame.body) }
    isMade = [false, false, false, false, false]
    tabs.onChange = { [self] in show($0) }
    show(0)
    addAdministration()
  }

  /// The way to the page for administrators, for whoever is one.
  private func addAdministration() {
    app.ask(.capabilities()) { [self] result in
      guard frame.isOpen, case .success(let capabilities) = result, capabilities.isAdministrator else { return }
      let open = dom.button("ma-button ma-wide", .administration, icon: .gear, in: pages[0])
      dom.on(open, .click) { [app] _ in app.goTo(.administration(AdministrationAddress(.overview))) }
    }
  }

  private func show(_ selected: Int) {
    for (index, page) in pages.enumerated() { dom.setFlag(page, "hidden", index != selected) }
    guard !isMade[selected] else { return }
    isMade[selected] = true
    let page = pages[selected]
    switch selected {
    case 0: ProfilePage(app, frame, in: page)
    case 1: NotificationsPage(app, frame, in: page)
    case 2: AppearancePage(app, in: page)
    case 3: DevicesPage(app, frame, in: page)
    default: AccountPage(app, frame, in: page)
    }
  }
}

/// A box that is ticked or not, with words beside it.
struct CheckBox<D: DOM> {
  private let dom: D
  private let input: Node

  @discardableResult
  init(_ dom: D, _ words: String, isOn: Bool, in parent: Node, _ then: @escaping (Bool) -> Void) {
    self.dom = dom
    let line = dom.element("label", "ma-check", in: parent)
    input = dom.element("input", in: line)
    dom.setAttribute(input, "type", "checkbox")
    if isOn { dom.setFlag(input, "checked", true) }
    dom.element("span", text: words, in: line)
    dom.on(input, .change) { then($0.x == 1) }
  }
}
