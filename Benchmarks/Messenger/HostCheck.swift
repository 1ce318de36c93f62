import Messenger
import WebHost

/// Asks every service of the host for something and writes what came back to the page, one line a service: run.py
/// compares. Two buttons need a person (a file picker, a trap).
final class HostCheck {
  private let dom: BatchDOM
  private let list: Node
  private var store: KeyValueStore?
  private var channel: TabChannel?
  private var waiting: [JSHandle] = []

  init(dom: BatchDOM) {
    self.dom = dom
    list = dom.element("pre", "checks", in: .root)
    let pick = dom.element("button", "pick", text: "pick", in: .root)
    dom.on(pick, .click) { [self] _ in Host.pickFiles { self.picked($0) } }
    let trap = dom.element("button", "trap", text: "trap", in: .root)
    dom.on(trap, .click) { _ in fatalError("asked for") }
    checkNetwork()
    checkStore()
    checkTabs()
    checkPage()
    checkImages()
  }

  private func say(_ name: String, _ value: String) {
    dom.element("div", text: name + "=" + value, in: list)
    dom.flush()
  }

  private func checkNetwork() {
    let url = Host.origin + "/echo"
    let headers = [(name: "X-Test", value: "grüße")]
    let asked = HostRequest(
      method: "PUT", url: url, headers: [(name: "X-Test", value: "yes")], body: Array("bödy".utf8))
    Host.fetch(asked) { [self] response in
      say(
        "fetch",
        "\(response.status) \(response.header("retry-after") ?? "-") " + String(decoding: response.body, as: UTF8.self))
    }
    // A header that is not allowed is no answer, not a trap.
    Host.fetch(HostRequest(method: "GET", url: url, headers: headers + [(name: "bad name", value: "")])) { [self] in
      say("refused", "\($0.status)")
    }
    Host.fetch(HostRequest(method: "GET", url: Host.origin + "/slow", timeoutMilliseconds: 100)) { [self] in
      say("timeout", "\($0.status)")
    }
    let cancelled = Host.fetch(HostRequest(method: "GET", url: Host.origin + "/slow")) { [self] _ in
      say("cancelled", "called")
    }
    cancelled.cancel()
    let timer = Host.after(milliseconds: 1) { [self] in say("stopped", "called") }
    timer.cancel()
    let start = Host.monotonicMilliseconds()
    Host.after(milliseconds: 30) { [self] in
      say("timer", Host.monotonicMilliseconds() - start >= 29 ? "later" : "early")
    }
  }

  private func checkStore() {
    Host.openStore(named: "check") { [self] store in
      guard let store else { return say("store", "none") }
      self.store = store
      var remaining = 3
      func next() {
        remaining -= 1
        guard remaining == 0 else { return }
        store.read([KeyValueStore.Range(prefix: "a/")]) { entries in
          let text = (entries ?? []).map { $0.key + ":" + String(decoding: $0.value, as: UTF8.self) }
          var line = ""
          for part in text { line += part + " " }
          self.say("store", line)
        }
      }
      // In order, whatever is answered first.
      store.write([.put("a/1", Array("one".utf8)), .put("a/ä", []), .put("b/1", [1]), .put("c", [2])]) {
        if $0 { next() }
      }
      store.write([.put("a/2", Array("two".utf8)), .deletePrefix("b/")]) { if $0 { next() } }
      store.write([.delete("c"), .put("a/1", Array("uno".utf8))]) { if $0 { next() } }
      store.read([KeyValueStore.Range(prefix: "zzz")]) { self.say("empty", "\($0?.count ?? -1)") }
    }
    Host.setSetting("check", "value ä")
    let kept = Host.setting("check") ?? "-"
    Host.setSetting("check", nil)
    say("setting", kept + " " + (Host.setting("check") ?? "gone"))
  }

  private func checkTabs() {
    channel = Host.openTabChannel(named: "check") { [self] in say("channel", String(decoding: $0, as: UTF8.self)) }
    Host.openTabChannel(named: "check") { _ in }.post(Array("hello".utf8))
    waiting.append(
      Host.acquireLock(named: "check") { [self] in
        say("lock", "first")
        Host.after(milliseconds: 30) {
          self.say("lock", "released")
          self.waiting.removeFirst()
        }
      })
    waiting.append(Host.acquireLock(named: "check") { [self] in say("lock", "second") })
  }

  private func checkPage() {
    say("random", Host.randomBytes(70_000).filter { $0 == 0 }.count < 1000 ? "random" : "zeros")
    say("clock", Host.clockLabel(1_767_225_600_000))
    say(
      "day",
      Host.dayLabel(Host.wallClockMilliseconds()) + ", " + Host.dayLabel(Host.wallClockMilliseconds() - 86_400_000))
    say("size", Host.byteCountLabel(1_400_000))
    say("local", "\(LocalClock().day(1_767_225_600_000 - 1)) \(LocalClock().day(1_767_225_600_000))")
    say(
      "extreme",
      Host.dayLabel(.max).utf8.isEmpty || Host.clockLabel(.min).utf8.isEmpty ? "none" : "\(LocalClock().day(.max) > 0)")
    say("page", Host.language + " " + Host.browserName)
    Host.setFragment("/room/!a:b.c", replacing: true)
    say("fragment", Host.fragment)
    Host.setTitle("checked")
    Host.onPageChange { [self] in say("change", "\($0.rawValue) " + Host.fragment) }
    Host.setIconBadge(3)
  }

  private func checkImages() {
    Host.authorizeImages(prefix: Host.origin + "/media/", token: "secret")
    for name in ["good", "bad"] {
      dom.setImage(dom.element("img", name, in: .root), Host.origin + "/media/" + name)
    }
    dom.flush()
  }

  private func picked(_ files: [PickedFile]) {
    guard let file = files.first else { return }
    say("picked", "\(file.name) \(file.mediaType) \(file.byteCount) \(file.width)x\(file.height)")
    say("blob", Host.objectURL(file).utf8.starts(with: "blob:".utf8) ? "blob" : "none")
    var progress = 0.0
    Host.upload(file, HostRequest(method: "POST", url: Host.origin + "/count")) { [self] event in
      switch event {
      case .progress(let fraction): progress = fraction
      case .done(let response):
        say("upload", "\(response.status) \(progress) " + String(decoding: response.body, as: UTF8.self))
      }
    }
  }
}
