import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Carries out a client's effects in memory: the store is a dictionary, requests and timers wait for the test.
///
/// After every input it replays the changes on copies of the timelines and compares: a change notice that leaves
/// something out or counts wrong fails the test that it happens in.
struct Host {
  struct Waiting {
    let id: RequestID
    let request: HTTPRequest
    let blob: BlobHandle?
    var encryptsBlob = false
  }

  var client: Client
  var now: Int64 = 1_700_000_000_000
  var store: [ByteString: [UInt8]] = [:]
  var waiting: [Waiting] = []
  var timers: [TimerID: Int64] = [:]
  var changes: [Change] = []
  var releasedBlobs: [BlobHandle] = []
  var finished: [CommandID: CommandResult] = [:]
  /// The ends of queries.
  var ended: [CommandID: QueryResult] = [:]
  /// Writes that are not durable yet, where `writesAtOnce` is false.
  var unwritten: [(WriteID, [StoreOperation])] = []
  var writesAtOnce = true
  /// What the store has read and not told yet, where `loadsAtOnce` is false.
  var untold: [(LoadID, [StoreRecord])] = []
  var loadsAtOnce = true
  /// Every range that was read.
  var loads: [StoreRange] = []
  private(set) var writeCount = 0
  /// Off where the test answers whether a room is encrypted; on, no room is.
  var saysNothingIsEncrypted = true
  var storeWorks = true
  /// Off for tests of many inputs: comparing costs O(items) each.
  var comparesMirrors = true
  private var mirrors: [TimelineKey: [TimelineItem]] = [:]
  /// How many stood at each item of the live timelines, and the rooms of which it was told that this is different now.
  private var readerCounts: [ItemID: Int] = [:]
  private var roomsToldRead: Set<RoomID> = []
  private var inputs: [Input] = []

  init(seed: UInt64 = 1, store: [ByteString: [UInt8]] = [:], mode: SyncMode = .v3) {
    client = Client(randomSeed: seed, deviceDisplayName: "Test")
    client.sync(by: mode)
    // Tests sync as often as they like.
    client.pacesSyncs = false
    self.store = store
  }

  /// A client that is signed in as @me:test and has begun to sync.
  static func signedIn(seed: UInt64 = 1, mode: SyncMode = .v3) -> Host {
    var host = Host(seed: seed, mode: mode)
    host.handle(.start)
    host.handle(.command(.session(.logIn(user: "me", password: "secret")), id: 1))
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    return host
  }

  /// Another process on what the store holds durably.
  func restarted(seed: UInt64 = 2, mode: SyncMode? = nil) -> Host {
    var host = Host(seed: seed, store: store, mode: mode ?? client.syncMode)
    host.now = now + 1000
    host.client.encrypts = client.encrypts
    host.client.encryptsFiles = client.encryptsFiles
    host.handle(.start)
    return host
  }

  // MARK: Inputs

  mutating func handle(_ input: Input) {
    inputs.append(input)
    while !inputs.isEmpty {
      let effects = client.handle(inputs.removeFirst(), now: now)
      for effect in effects { carryOut(effect) }
      if comparesMirrors { compareMirrors() }
    }
  }

  mutating func command(_ command: Command, id: CommandID = 9) {
    finished[id] = nil
    handle(.command(command, id: id))
  }

  mutating func ask<Answer>(_ query: Query<Answer>, id: CommandID = 7) {
    ended[id] = nil
    handle(.query(query.request, id: id))
  }

  /// Lets the time pass and the timers that run out in it fire, in order.
  mutating func wait(_ milliseconds: Int64) {
    let end = now + milliseconds
    while let next = timers.filter({ $0.value <= end }).min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      timers[next.key] = nil
      now = max(now, next.value)
      handle(.timerFired(next.key))
    }
    now = end
  }

  /// What the core wants to have encrypted.
  var unencrypted: [(id: SendID, message: UnencryptedMessage)] = []
  var prepared: [MessageReaders] = []

  // MARK: Requests

  func request(_ part: String) -> Waiting? { waiting.first { $0.request.target.contains(part) } }

  func body(_ part: String) -> JSON? { request(part)?.request.body.flatMap { try? JSON.parse($0) } }

  /// Answers the oldest request whose target contains `part`.
  mutating func answer(
    _ part: String, status: Int = 200, _ body: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    respond(part, .answer(status: status, body: Array(body.utf8)), sourceLocation: sourceLocation)
  }

  mutating func respond(_ part: String, _ response: Response, sourceLocation: SourceLocation = #_sourceLocation) {
    guard let i = waiting.firstIndex(where: { $0.request.target.contains(part) }) else {
      Issue.record(
        "no request for \(part); waiting: \(waiting.map { $0.request.target })", sourceLocation: sourceLocation)
      return
    }
    let request = waiting.remove(at: i)
    handle(.response(request.id, response))
  }

  var batch = 0

  /// Answers the sync with these rooms. `token` counts up by itself.
  /// - Parameter isDecrypted: whether the host's machine has put in clear text and marks.
  mutating func sync(
    _ rooms: String = "", extra: String = "", isDecrypted: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    batch += 1
    let rooms = rooms.isEmpty ? "" : #","rooms":{"# + rooms + "}"
    let body = Array((#"{"next_batch":"s\#(batch)""# + rooms + extra + "}").utf8)
    respond("/sync?", isDecrypted ? .decrypted(body) : .answer(status: 200, body: body), sourceLocation: sourceLocation)
  }

  // MARK: Effects

  private mutating func carryOut(_ effect: Effect) {
    switch effect {
    case .request(let id, let request) where saysNothingIsEncrypted && request.target.contains("/state/m.room.encryption"):
      inputs.append(.response(id, .answer(status: 404, body: Array(#"{"errcode":"M_NOT_FOUND","error":""}"#.utf8))))
    case .request(let id, let request): waiting.append(Waiting(id: id, request: request, blob: nil))
    case .upload(let id, let request, let blob): waiting.append(Waiting(id: id, request: request, blob: blob))
    case .uploadEncrypted(let id, let request, let blob):
      waiting.append(Waiting(id: id, request: request, blob: blob, encryptsBlob: true))
    case .cancelRequest(let id): waiting.removeAll { $0.id == id }
    case .startTimer(let id, let milliseconds): timers[id] = now + milliseconds
    case .cancelTimer(let id): timers[id] = nil
    case .load(let id, let range): load(id, range)
    case .write(let id, let operations):
      writeCount += 1
      unwritten.append((id, operations))
      if writesAtOnce { inputs += acknowledge(unwritten.count) }
    case .releaseBlob(let blob): releasedBlobs.append(blob)
    case .change(let change): note(change)
    case .queryEnded(let id, let result):
      if ended[id] != nil { Issue.record("query \(id) ended twice") }
      ended[id] = result
    case .encrypt(let id, let message): unencrypted.append((id, message))
    case .prepareEncryption(let readers): prepared.append(readers)
    case .queryProgress: break
    }
  }

  /// Reads after every write before it, as the store does.
  private mutating func load(_ id: LoadID, _ range: StoreRange) {
    loads.append(range)
    if !unwritten.isEmpty { inputs += acknowledge(unwritten.count) }
    let records = range.select(from: store.map { ($0.key, $0.value) })
    if loadsAtOnce { inputs.append(.loaded(id, records)) } else { untold.append((id, records)) }
  }

  mutating func finishLoads(_ count: Int = .max) {
    let told = untold.prefix(count)
    untold.removeFirst(told.count)
    for (id, records) in told { handle(.loaded(id, records)) }
  }

  /// The first writes become durable.
  mutating func finishWrites(_ count: Int = .max) {
    for input in acknowledge(min(count, unwritten.count)) { handle(input) }
  }

  private mutating func acknowledge(_ count: Int) -> [Input] {
    var inputs: [Input] = []
    for (id, operations) in unwritten.prefix(count) {
      if storeWorks { for operation in operations { carryOut(operation) } }
      inputs.append(.written(id, storeWorks))
    }
    unwritten.removeFirst(count)
    return inputs
  }

  private mutating func carryOut(_ operation: StoreOperation) {
    switch operation {
    case .put(let key, let value): store[key] = value
    case .delete(let key): store[key] = nil
    case .deleteAll(let prefix): store = store.filter { !$0.key.string.hasPrefix(prefix.string) }
    }
  }

  private mutating func note(_ change: Change) {
    changes.append(change)
    switch change {
    case .timeline(let key, let steps):
      for step in steps {
        apply(step, to: &mirrors[key, default: []])
        // Whoever shows the timeline reads everything again.
        if case .reset = step { roomsToldRead.insert(key.room) }
      }
    case .readCounts(let room, _): roomsToldRead.insert(room)
    case .commandFinished(let id, let result): finished[id] = result
    default: break
    }
  }

  private func apply(_ step: TimelineChange, to items: inout [TimelineItem]) {
    switch step {
    case .inserted(let index, let new):
      guard index <= items.count else {
        Issue.record("insertion at \(index) of \(items.count)")
        return
      }
      items.insert(contentsOf: new, at: index)
    case .updated(let index, let item):
      guard index < items.count else {
        Issue.record("update at \(index) of \(items.count)")
        return
      }
      #expect(items[index].id == item.id)
      items[index] = item
    case .removed(let range):
      guard range.upperBound <= items.count else {
        Issue.record("removal of \(range) of \(items.count)")
        return
      }
      items.removeSubrange(range)
    case .reset(let new): items = new
    }
  }

  private mutating func compareMirrors() {
    for (key, mirror) in mirrors {
      guard let items = client.timeline(key)?.items else { continue }
      if key.focus == .live { compareReaders(of: items, in: key.room) }
      let seen = mirror.map(describe)
      let real = items.map(describe)
      if seen != real { Issue.record("changes of \(key) give\n\(seen)\nbut the timeline is\n\(real)") }
    }
    roomsToldRead = []
  }

  private mutating func compareReaders(of items: [TimelineItem], in room: RoomID) {
    for item in items {
      let old = readerCounts.updateValue(item.readerCount, forKey: item.id) ?? item.readerCount
      if old != item.readerCount, !roomsToldRead.contains(room) {
        Issue.record("\(item.readerCount) stand at \(describe(item)) instead of \(old), and nobody was told")
      }
    }
  }

  // MARK: Looking

  func items(_ room: RoomID = .test) -> [TimelineItem] { client.room(room)?.timeline.items ?? [] }
  func items(_ key: TimelineKey) -> [TimelineItem] { client.timeline(key)?.items ?? [] }

  /// The rows in short: text, `[gap]`, `[redacted]` …; what is not `received` says so.
  func texts(_ room: RoomID = .test) -> [String] { items(room).map(describeShort) }
  func texts(_ key: TimelineKey) -> [String] { items(key).map(describeShort) }

  func result(_ id: CommandID = 9) -> String {
    switch finished[id] {
    case nil: "nothing"
    case .done: "done"
    case .room(let room): room.string
    case .event(let source): String(decoding: source.bytes, as: UTF8.self)
    case .timeline(let key): "\(key.focus)"
    case .queued: "queued"
    case .unread(let evidence): "\(evidence.items.count) unread"
    case .failed(let error): "\(error)"
    }
  }
}

func describe(_ item: TimelineItem) -> String {
  "\(item.id) \(item.eventID?.string ?? "-") \(describeShort(item)) \(item.isEdited) \(item.reactions.map { "\($0.key)\($0.count)" })"
    + " \(describe(item.quoted)) \(item.thread.map { "\($0.count) \($0.isParticipating)" } ?? "")"
}

func describe(_ quoted: QuotedEvent?) -> String {
  switch quoted {
  case nil: ""
  case .loading?: "> …"
  case .unavailable?: "> ?"
  case .event(let sender, let content)?: "> \(sender): \(describe(content))"
  }
}

func describe(_ content: TimelineItem.Content) -> String {
  switch content {
  case .message(let message): message.body.string
  case .state(let change): "(\(change))"
  case .redacted: "[redacted]"
  case .undecryptable(.waiting): "[undecryptable]"
  case .undecryptable(let reason): "[undecryptable: \(reason.name)]"
  case .call(let call): "[\(call.english)]"
  case .verification(let verification): "[\(verification.english)]"
  case .custom: "[custom]"
  case .unparsable: "[unparsable]"
  case .gap(let state): state == .idle ? "[gap]" : "[gap \(state)]"
  }
}

func describeShort(_ item: TimelineItem) -> String {
  let text = describe(item.content)
  switch item.delivery {
  case .received: return text
  case .queued: return text + " queued"
  case .held: return text + " held"
  case .uploading(let sent, let total): return text + " uploading \(sent)/\(total)"
  case .sending: return text + " sending"
  case .sent: return text + " sent"
  case .failed: return text + " failed"
  }
}

extension TimelineKey {
  static let test = TimelineKey.live(.test)
}

extension RoomID {
  static let test = RoomID(trusted: "!room:test")
}
