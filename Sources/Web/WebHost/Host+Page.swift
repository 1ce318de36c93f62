import Messenger

/// What the page is like at a moment.
public struct PageState: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

extension Host {
  /// Whether the browser has peer connections.
  public static var canCall: Bool { pageState.contains(.canCall) }

  public static var pageState: PageState { PageState(rawValue: hostPageState()) }

  /// Calls `handler` for every change of the page, for ever.
  public static func onPageChange(_ handler: @escaping (PageChange) -> Void) {
    hostPageListen(register { if let change = PageChange(rawValue: $0.code) { handler(change) } })
  }

  /// The part of the address after `#`, not decoded; empty if the address has no fragment.
  public static var fragment: String { hostPageFragment() ?? "" }
  /// `scheme://host:port` of the page.
  public static var origin: String { hostPageOrigin() ?? "" }
  /// The reader's language, for example `en-GB`.
  public static var language: String { hostPageLanguage() ?? "" }
  /// The part of the address after `?`, without the sign.
  public static var query: String { hostPageQuery() ?? "" }
  /// A name for this browser and system, for example `Firefox on Linux`; for the device's display name.
  public static var browserName: String { hostPageBrowserName() ?? "" }
  /// The file of texts in the reader's language, as far as the page has languages (`data-languages`); empty where it has none.
  public static var texts: String { hostPageTexts() ?? "" }
  /// The languages that the page has texts in, a line for each: its tag, a tab, its own name. The first has no tag: what the
  /// browser would choose. The setting `language` says which is spoken at the next load.
  public static var languages: String { hostPageLanguages() ?? "" }

  /// The page's own address, without what stands after `?` and `#`.
  public static var address: String { hostPageAddress() ?? "" }

  /// What the embedding page asked for at the start, as JSON; empty if no page embeds this one.
  public static var embedding: String { hostPageEmbedding() ?? "" }

  /// What `keep(word:)` kept; empty where there is nothing.
  public static var keptWord: String { hostPageKeptWord() ?? "" }
  /// This tab alone keeps it, also while it is at another site.
  public static func keep(word: String) { hostPageKeepWord(word) }

  /// Percent-encoded by the caller. `replacing` puts no entry in the history. Setting it raises no `PageChange`.
  public static func setFragment(_ fragment: String, replacing: Bool) { hostPageSetFragment(fragment, replacing ? 1 : 0) }
  public static func setTitle(_ title: String) { hostPageSetTitle(title) }
  /// The number on the page's icon; 0 takes it away.
  public static func setIconBadge(_ count: Int) { hostPageSetBadge(Int32(clamping: count)) }
  /// Opens `http` and `https` addresses in a new tab; others are ignored.
  public static func open(url: String) { hostPageOpen(url) }
  public static func reload() { hostPageReload() }
  /// Takes what stands after `?` out of the page's address.
  public static func clearQuery() { hostPageClearQuery() }
  /// Goes to another page, `http` or `https`.
  public static func leave(for url: String) { hostPageLeave(url) }

  public static func copyToClipboard(_ text: String, _ then: @escaping (Bool) -> Void) {
    let id = registerOnce { then($0.code == 1) }
    hostClipboardWrite(id, text)
  }
}
