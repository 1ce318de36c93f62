import ClientHost
import JSON
import Messenger
import PageWidgets
import WebHost

/// One tab syncs: the one that holds the lock of the store. The others say so and can take over; the tab that had it then lets go.
final class Tabs {
  private static let takeOver: [UInt8] = [1]
  /// A free lock is granted within this time; only then is another tab said to have it.
  private static let patienceMilliseconds = 300.0

  private let dom: BatchDOM
  /// Of the page that embeds this one; such a frame has a store of its own, never that of the client as a page.
  private let wishes: JSON?
  private let storeName: String
  private var lock: JSHandle?
  private var channel: TabChannel?
  private var app: App<BatchDOM>?
  private var notice = Node.none

  init(dom: BatchDOM) {
    self.dom = dom
    wishes = try? JSON.parse(Array(Host.embedding.utf8))
    storeName = wishes.map { $0["store"]?.string ?? "" } ?? "martlet"
  }

  func start() {
    Host.onPageChange { [self] in app?.pageChanged($0) }
    // Nobody else has a store that is in memory.
    if storeName.utf8.isEmpty { return acquired() }
    channel = Host.openTabChannel(named: storeName) { [self] _ in letGo() }
    wait()
    Host.after(milliseconds: Tabs.patienceMilliseconds) { [self] in
      if app == nil, notice == .none { showNotice(Strings[.openElsewhere]) }
    }
  }

  private func wait() { lock = Host.acquireLock(named: storeName) { [self] in acquired() } }

  private func acquired() {
    hideNotice()
    let app = App(dom: dom, effects: EffectRunner(server: Server.saved, storeName: storeName))
    app.embedding = wishes.map { Embedding(app, $0) }
    self.app = app
    app.start()
  }

  private func letGo() {
    guard let app else { return }
    self.app = nil
    app.stop()
    lock = nil
    showNotice(Strings[.takenOver])
  }

  private func showNotice(_ text: String) {
    hideNotice()
    notice = dom.element("main", "ma-elsewhere", in: .root)
    Drawing.logo.draw(dom, in: notice)
    dom.element("h1", "ma-title", text: .product, in: notice)
    dom.element("p", "ma-note", text: text, in: notice)
    let use = dom.button("ma-button ma-primary", .useHere, in: notice)
    dom.on(use, .click) { [self] _ in
      channel?.post(Tabs.takeOver)
      if lock == nil { wait() }
    }
    dom.focus(use)
    dom.flush()
  }

  private func hideNotice() {
    if notice != .none { dom.release(notice) }
    notice = .none
    dom.flush()
  }
}
