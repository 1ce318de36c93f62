import ClientCore
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What this program is, which server it talks to, and how it is doing.
struct AboutPage<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    let dom = app.dom
    let top = dom.element("div", "ma-profile", in: page)
    Drawing.logo.draw(dom, in: top)
    dom.element("p", "ma-details-name", text: .product, in: top)
    dom.element("p", "ma-note", text: .aboutNote, in: top)
    if let server = app.userID?.serverName { CopyLine(app, .server, server.string, in: page) }
    let support = SupportBox(app, heading: "h3", in: page)
    support.isThere = { frame.isOpen }
    support.learn()
    CheckBox(dom, Strings[.showFigures], isOn: Host.setting(Settings.figures) != nil, in: page) {
      Host.setSetting(Settings.figures, $0 ? "1" : nil)
      Host.applyLook()
    }
    CheckBox(dom, Strings[.developerOptions], isOn: app.showsSources, in: page) {
      app.showsSources = $0
      Host.setSetting(Settings.developer, $0 ? "1" : nil)
    }
  }
}
