import Messenger
import PageWidgets
import WebHost

/// How the page looks.
struct AppearancePage<D: DOM> {
  @discardableResult
  init(_ app: App<D>, in page: Node) {
    let dom = app.dom
    add(
      dom, .theme, Settings.theme,
      [("", .themeSystem), ("light", .themeLight), ("dark", .themeDark), ("contrast", .themeContrast)], in: page)
    add(dom, .density, Settings.density, [("", .densityComfortable), ("compact", .densityCompact)], in: page)
    CheckBox(dom, Strings[.showDeleted], isOn: !app.hidesDeleted, in: page) {
      app.hidesDeleted = !$0
      Host.setSetting(Settings.hideDeleted, $0 ? nil : "1")
      app.main?.room?.renewRows()
    }
    add(dom, .writeRich, Settings.rich, in: page)
  }

  private func add(_ dom: D, _ label: Strings.Key, _ setting: String, in page: Node) {
    CheckBox(dom, Strings[label], isOn: Host.setting(setting) != nil, in: page) {
      Host.setSetting(setting, $0 ? "1" : nil)
      Host.applyLook()
    }
  }

  private func add(
    _ dom: D, _ label: Strings.Key, _ setting: String, _ options: [(value: String, words: Strings.Key)], in page: Node
  ) {
    let options = options.map { (value: $0.value, words: Strings[$0.words]) }
    Choice(dom, Strings[label], options, selected: Host.setting(setting) ?? "", in: page) { value in
      Host.setSetting(setting, value.utf8.isEmpty ? nil : value)
      Host.applyLook()
    }
  }
}
