import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

/// The whole program on a fake page: what it asks of the server and the store is kept here and answered by the test.
final class Page {
  let dom = FakeDOM()
  let app: App<FakeDOM>
  private(set) var requests: [(id: RequestID, request: HTTPRequest)] = []
  private(set) var stored: [ByteString: [UInt8]] = [:]

  /// What the server says of itself; nil leaves it to the test. No room is encrypted by itself otherwise.
  var wellKnown: String? = #"{"io.element.e2ee":{"default":false}}"#

  /// What the page around it heard.
  private(set) var told: [String] = []

  /// - Parameters:
  ///   - wishes: of the page that it is a frame of.
  ///   - stored: what an earlier page has left in the browser.
  init(loginToken: ByteString? = nil, wishes: JSON? = nil, stored: [ByteString: [UInt8]] = [:]) {
    self.stored = stored
    app = App(dom: dom, effects: EffectRunner(server: Server(base: "https://chat.example")), seed: 1)
    app.loginToken = loginToken
    app.perform = { [unowned self] in perform($0) }
    if let wishes {
      let embedding = Embedding(app, wishes)
      embedding.port?.post = { [unowned self] in told.append(String(decoding: $0, as: UTF8.self)) }
      app.embedding = embedding
      app.next = embedding.destination
    }
    app.begin()
    // The host natively knows of no network and of no person.
    app.take(.networkChanged(isOnline: true))
    app.take(.attentionChanged(isVisible: true, isFocused: true))
    settleStore()
  }

  private var loads: [(LoadID, StoreRange)] = []
  private var writes: [WriteID] = []
  private var timers: [TimerID] = []

  private func perform(_ effect: Effect) {
    switch effect {
    case .request(let id, let request):
      if let wellKnown, request.target.contains("/.well-known/matrix/client") {
        app.take(.response(id, .answer(status: 200, body: Array(wellKnown.utf8))))
      } else {
        requests.append((id, request))
      }
    case .upload(let id, let request, _), .uploadEncrypted(let id, let request, _): requests.append((id, request))
    case .cancelRequest(let id): requests.removeAll { $0.id == id }
    case .load(let id, let range): loads.append((id, range))
    case .write(let id, let operations):
      for operation in operations {
        switch operation {
        case .put(let key, let value): stored[key] = value
        case .delete(let key): stored[key] = nil
        case .deleteAll(let prefix): stored = stored.filter { !$0.key.utf8.starts(with: prefix.utf8) }
        }
      }
      writes.append(id)
    case .startTimer(let id, _): timers.append(id)
    case .cancelTimer(let id): timers.removeAll { $0 == id }
    case .encrypt, .prepareEncryption, .releaseBlob, .change, .queryEnded, .queryProgress: break
    }
  }

  /// Answers the store's loads and writes, as often as new ones come of it.
  func settleStore() {
    while !loads.isEmpty || !writes.isEmpty {
      if !loads.isEmpty {
        let (id, range) = loads.removeFirst()
        app.take(.loaded(id, range.select(from: stored.map { ($0.key, $0.value) })))
      } else {
        app.take(.written(writes.removeFirst(), true))
      }
    }
  }

  /// Answers the oldest request whose path contains the text. Returns false if there is no such request.
  @discardableResult
  func answer(_ path: String, status: Int = 200, _ json: String) -> Bool {
    guard let index = requests.firstIndex(where: { $0.request.target.contains(path) }) else { return false }
    let id = requests.remove(at: index).id
    app.take(.response(id, .answer(status: status, body: Array(json.utf8))))
    settleStore()
    return true
  }

  /// The time of all timers that were started is over.
  func runTimers() {
    let over = timers
    timers = []
    for timer in over { app.take(.timerFired(timer)) }
    settleStore()
  }

  func body(of path: String) -> String {
    let request = requests.first { $0.request.target.contains(path) }?.request
    return String(decoding: request?.body ?? [], as: UTF8.self)
  }

  // MARK: What a person sees and does

  var root: FakeElement { dom[.root] }
  var text: String { root.allText }

  func all(_ name: String, in element: FakeElement? = nil) -> [FakeElement] {
    let element = element ?? root
    if element.isHidden { return [] }
    return (element.has(name) ? [element] : []) + element.children.flatMap { all(name, in: $0) }
  }

  /// Writes into the field with that label that can be seen.
  func type(_ text: String, into label: String) {
    for field in all("ma-input") where field.attributes["aria-label"] == label { dom.fire(.input, on: field.node, text: text) }
  }

  /// The main button of the topmost dialog.
  func submitDialog() {
    guard let dialog = all("ma-dialog").last,
      let button = (all("ma-primary", in: dialog) + all("ma-danger", in: dialog)).first
    else { return }
    dom.fire(.click, on: button.node)
  }

  /// A form of the topmost dialog that can be seen.
  func submitForm(_ number: Int = 0) {
    let forms = all("ma-dialog").last.map { dialog in all("ma-form", in: dialog).filter { $0.tag == "form" } } ?? []
    if forms.indices.contains(number) { dom.fire(.submit, on: forms[number].node) }
  }

  func submit() { if let form = all("ma-form").first { dom.fire(.submit, on: form.node) } }

  func signIn() {
    answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    type("alice", into: Strings[.userName])
    type("correct horse", into: Strings[.password])
    submit()
    answer("/login", #"{"user_id":"@alice:chat.example","device_id":"D","access_token":"secret"}"#)
    answer("/profile/", #"{"displayname":"Alice"}"#)
  }

  /// The numbers at the rooms of the list, from the top.
  var badges: [String] { all("ma-entry").flatMap { all("ma-badge", in: $0) }.filter { !$0.has("ma-at") }.map(\.text) }

  /// The open button, menu item or the like with these words.
  func click(_ words: String) {
    for button in all("ma-button") + all("ma-menu-item") + all("ma-link") + all("ma-round") + all("ma-tab") + all("ma-line")
      + all("ma-preview-switch")
    where [button.allText, button.saidText].contains(words) || button.attributes["aria-label"] == words {
      dom.fire(.click, on: button.node)
      return
    }
    Issue.record("no button says \(words)")
  }

  /// One sync, as the server would answer it without `next_batch`.
  func sync(answer: String) { self.answer("/sync", "{\"next_batch\":\"s1\"" + (answer.isEmpty ? "" : "," + answer) + "}") }

  /// One sync with rooms: `id` and the JSON of what stands in `rooms.join`.
  func sync(_ rooms: [(id: String, content: String)]) {
    let joined = rooms.map { "\"\($0.id)\":\($0.content)" }.joined(separator: ",")
    answer("/sync", "{\"next_batch\":\"s1\",\"rooms\":{\"join\":{\(joined)}}}")
  }
}

/// What a sync says of a room: its name and messages as (sender, text, seconds).
func room(_ name: String, unread: Int = 0, _ messages: [(String, String, Int)]) -> String {
  let events = messages.enumerated().map { number, message in
    """
    {"type":"m.room.message","event_id":"$\(name.utf8.count)-\(message.2)-\(number)","sender":"\(message.0)",\
    "origin_server_ts":\(message.2 * 1000),"content":{"msgtype":"m.text","body":"\(message.1)"}}
    """
  }
  return """
    {"summary":{"m.joined_member_count":3},"unread_notifications":{"notification_count":\(unread),"highlight_count":0},
    "state":{"events":[{"type":"m.room.name","state_key":"","event_id":"$n\(name.utf8.count)","sender":"@alice:chat.example","content":{"name":"\(name)"}}]},
    "timeline":{"limited":false,"prev_batch":"t1","events":[\(events.joined(separator: ","))]}}
    """
}
