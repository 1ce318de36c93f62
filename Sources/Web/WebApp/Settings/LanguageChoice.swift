import Messenger
import PageWidgets
import WebHost

/// The choice of the page's language. A new choice reloads the page, because all texts on the screen have to change.
struct LanguageChoice<D: DOM> {
  /// - Parameter returns: whether the new page opens the settings again.
  @discardableResult
  init(_ dom: D, returns: Bool = false, in parent: Node) {
    Choice(
      dom, Strings[.language], LanguageChoice.options(Host.languages), selected: Host.setting(Settings.language) ?? "",
      in: parent
    ) { tag in
      Host.setSetting(Settings.language, tag.utf8.isEmpty ? nil : tag)
      if returns { Host.setSetting(Settings.returnsToLanguage, "1") }
      Host.reload()
    }
  }

  /// From `Host.languages`.
  static func options(_ lines: String) -> [(value: String, words: String)] {
    Array(lines.utf8).split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard let tab = line.firstIndex(of: 9) else { return nil }
      let (tag, name) = (String(decoding: line[..<tab], as: UTF8.self), String(decoding: line[(tab + 1)...], as: UTF8.self))
      return (tag, tag.utf8.isEmpty ? Strings[.browserLanguage, name] : name)
    }
  }
}
