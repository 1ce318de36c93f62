import Messenger

/// What the page is like at a moment.
public struct PageState: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  /// The browser believes to have a network.
  public static let online = PageState(rawValue: 1)
  public static let visible = PageState(rawValue: 2)
  /// The window has the keyboard: a person is probably looking.
  public static let focused = PageState(rawValue: 4)
  public static let dark = PageState(rawValue: 8)
  public static let reducedMotion = PageState(rawValue: 16)
  /// The language of the page is written from right to left.
  public static let rightToLeft = PageState(rawValue: 32)
  /// The browser has peer connections and can open a microphone.
  public static let canCall = PageState(rawValue: 64)
  /// The browser can be pushed to while no page is open.
  public static let canBePushedTo = PageState(rawValue: 128)
  /// The browser hands files to other programs.
  public static let canShare = PageState(rawValue: 256)
}

/// What changed about the page.
public enum PageChange: Int32, Sendable {
  case online = 0
  /// Visibility or focus.
  case attention = 1
  /// The part of the address after `#`.
  case fragment = 2
  case colourScheme = 3
  /// The page is about to go away or to be frozen: save now.
  case leaving = 4
  /// Control or Command and K were pressed.
  case quickSwitch = 5
  /// Control or Command and `/`, or `?` where nothing is written.
  case shortcuts = 6
  /// Escape, which nothing on the page wanted.
  case escape = 7
}

extension Host {
  /// Whether the browser has peer connections.
  public static var canCall: Bool { pageState.contains(.canCall) }

  public static var pageState: PageState { PageState(rawValue: hostPageState()) }

  /// Calls `handler` for every change of the page, for ever.
  public static func onPageChange(_ handler: @escaping (PageChange) -> Void) {
    hostPageListen(register { if let change = PageChange(rawValue: $0.code) { handler(change) } })
  }

  /// The part of the address after `#`, as it stands there; empty when there is none.
  public static var fragment: String { text(0) }
  /// `scheme://host:port` of the page.
  public static var origin: String { text(1) }
  /// The reader's language, for example `en-GB`.
  public static var language: String { text(2) }
  /// The part of the address after `?`, without the sign.
  public static var query: String { text(3) }
  /// A name for this browser and system, for example `Firefox on Linux`; for the device's display name.
  public static var browserName: String { text(4) }
  /// The file of texts in the reader's language, as far as the page has languages (`data-languages`); empty where it has none.
  public static var texts: String { text(5) }
  /// The languages that the page has texts in, a line for each: its tag, a tab, its own name. The first has no tag: what the
  /// browser would choose. The setting `language` says which is spoken at the next load.
  public static var languages: String { text(6) }

  /// The page's own address, without what stands after `?` and `#`.
  public static var address: String { text(7) }

  /// What the page that embeds this one asked for at the start, as JSON; empty where there is none.
  public static var embedding: String { text(8) }

  /// What `keep(word:)` kept; empty where there is nothing.
  public static var keptWord: String { text(9) }
  /// This tab alone keeps it, also while it is at another site.
  public static func keep(word: String) { act(17, 0, word) }

  /// Percent-encoded by the caller. `replacing` puts no entry in the history. Setting it raises no `PageChange`.
  public static func setFragment(_ fragment: String, replacing: Bool) { act(0, replacing ? 1 : 0, fragment) }
  public static func setTitle(_ title: String) { act(1, 0, title) }
  /// The number on the page's icon; 0 takes it away.
  public static func setIconBadge(_ count: Int) { act(2, Int32(clamping: count), "") }
  /// Opens `http` and `https` addresses in a new tab; others are ignored.
  public static func open(url: String) { act(3, 0, url) }
  public static func reload() { act(4, 0, "") }
  /// Takes what stands after `?` out of the page's address.
  public static func clearQuery() { act(8, 0, "") }
  /// Goes to another page, `http` or `https`.
  public static func leave(for url: String) { act(9, 0, url) }

  public static func copyToClipboard(_ text: String, _ then: @escaping (Bool) -> Void) {
    let id = registerOnce { then($0.code == 1) }
    withBytes(text) { hostClipboardWrite(id, $0, $1) }
  }

  private static func text(_ kind: Int32) -> String { readText { hostPageText(kind, $0, $1) } ?? "" }
  static func act(_ action: Int32, _ value: Int32, _ text: String) {
    withBytes(text) { hostPageDo(action, value, $0, $1) }
  }
}
