import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A person who writes, edits, reacts and removes, over a network that loses answers, on a machine that dies at any moment.
///
/// What the person asked for counts once its write is durable: writes are durable in their order, so after a kill what counts is
/// a beginning of what was asked.
struct SendingWorld {
  struct Message {
    var text: String
    var reactions: Set<String> = []
    var isRemoved = false
    let send: SendID
  }

  var host: Host
  var server = ModelServer()
  var random: RandomSource
  /// What was asked for and is durable, and the steps towards what was asked for since, with the number of writes that each needs.
  var messages: [Message] = []
  var asked: [Message] = []
  var steps: [(writes: Int, messages: [Message])] = []
  private var started = 0

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
    host = Host.signedIn(seed: seed)
    serveSync()
    host.command(.timeline(.openRoom(.test)))
  }

  // MARK: The person

  mutating func ask() {
    let i = Int(random.next(below: Int64(max(asked.count, 1))))
    let isOver = asked.isEmpty || asked[i].isRemoved
    switch random.next(below: 10) {
    case 0...3: write()
    case 4, 5: if !isOver { edit(i) }
    case 6...8: if !isOver { toggle(i, key: random.next(below: 3) == 0 ? "b" : "a") }
    default: if !isOver { remove(i) }
    }
    steps.append((host.writeCount, asked))
    noteDurable()
  }

  private mutating func write() {
    started += 1
    host.command(.sending(.send(.test, .text(ByteString("m\(started).")))))
    guard case .queued(let id) = host.finished[9] else {
      Issue.record("not queued: \(host.result())")
      return
    }
    asked.append(Message(text: "m\(started).", send: id))
  }

  private mutating func edit(_ i: Int) {
    started += 1
    asked[i].text = asked[i].text.prefix { $0 != "." } + ".\(started)"
    host.command(.sending(.edit(.test, target(asked[i]), FormattedText(ByteString(asked[i].text)))))
    if case .failed(let error) = host.finished[9] { Issue.record("edit: \(error)") }
  }

  private mutating func toggle(_ i: Int, key: String) {
    if asked[i].reactions.remove(key) == nil { asked[i].reactions.insert(key) }
    host.command(.sending(.toggleReaction(.test, target(asked[i]), key: ByteString(key))))
    if case .failed(let error) = host.finished[9] { Issue.record("toggle: \(error)") }
  }

  private mutating func remove(_ i: Int) {
    asked[i].isRemoved = true
    host.command(.sending(.redact(.test, target(asked[i]), reason: nil)))
    if case .failed(let error) = host.finished[9] { Issue.record("remove: \(error)") }
  }

  private func target(_ message: Message) -> SendTarget {
    if host.client.outbox[message.send] != nil { return .sending(message.send) }
    let name = message.text.prefix { $0 != "." } + "."
    return .event(EventID(trusted: ByteString(server.messages.first { $0.text.hasPrefix(name) }?.id ?? "$none")))
  }

  private mutating func noteDurable() {
    let durable = host.writeCount - host.unwritten.count
    while let first = steps.first, first.writes <= durable { messages = steps.removeFirst().messages }
  }

  // MARK: The network

  private static func isSend(_ request: HTTPRequest) -> Bool {
    request.target.contains("/send/") || request.target.contains("/redact/")
  }

  mutating func serveSend(losesAnswer: Bool = false, isLost: Bool = false) {
    guard let waiting = host.waiting.first(where: { SendingWorld.isSend($0.request) }) else { return }
    // Of those whose event has come by a sync nobody awaits the answer.
    let awaited = host.waiting.filter { SendingWorld.isSend($0.request) && host.client.pending.requests[$0.id] != nil }
    #expect(awaited.count <= 1, "one at a time")
    if isLost { return host.respond(waiting.request.target, .networkError) }
    let event = server.take(waiting.request)
    if losesAnswer { return host.respond(waiting.request.target, .networkError) }
    if let event {
      host.answer(waiting.request.target, #"{"event_id":"\#(event)"}"#)
    } else {
      host.answer(waiting.request.target, status: 400, #"{"errcode":"M_DUPLICATE_ANNOTATION","error":""}"#)
    }
  }

  mutating func serveSync() {
    guard let target = host.request("/sync?")?.request.target else { return }
    let since = target.firstRange(of: "since=").flatMap { Int(target[$0.upperBound...].prefix { $0.isNumber }) }
    host.answer("/sync?", server.sync(since: since))
  }

  mutating func step() {
    switch random.next(below: 14) {
    case 0...4: ask()
    case 5, 6: serveSend()
    case 7: serveSend(losesAnswer: true)
    case 8: serveSend(isLost: true)
    case 9: serveSync()
    case 10: host.wait(40_000)
    default: host.finishWrites(Int(random.next(below: 3)))
    }
    noteDurable()
  }

  mutating func kill() {
    host.finishWrites(Int(random.next(below: 3)))
    noteDurable()
    steps = []
    asked = messages
    host = host.restarted(seed: random.next())
    host.command(.timeline(.openRoom(.test)))
    host.writesAtOnce = false
  }

  mutating func settle() {
    host.writesAtOnce = true
    host.finishWrites()
    noteDurable()
    for _ in 0..<300 where !host.client.outbox.entries.isEmpty {
      serveSend()
      serveSync()
      host.wait(31_000)
    }
  }

  // MARK: What must hold

  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(host.client.outbox.entries.isEmpty, sourceLocation: sourceLocation)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") }, sourceLocation: sourceLocation)
    let expected = messages.filter { !$0.isRemoved }.map { "\($0.text) \($0.reactions.sorted())" }
    #expect(server.messages.map { "\($0.text) \($0.reactions)" } == expected, sourceLocation: sourceLocation)
    let shown = host.items().compactMap { item -> String? in
      guard case .message(let message) = item.content else { return nil }
      #expect(item.reactions.allSatisfy { $0.count == 1 && $0.isOwn }, sourceLocation: sourceLocation)
      #expect(item.pendingChange == nil, sourceLocation: sourceLocation)
      return "\(message.body) \(item.reactions.map { $0.key.string }.sorted())"
    }
    #expect(shown == expected, sourceLocation: sourceLocation)
  }
}

@Suite struct SendingRestartTests {
  // Proves B5, P23, W10
  @Test(arguments: 0..<150) func `whatever dies when, everything asked for happens once and in order`(seed: Int) {
    var world = SendingWorld(seed: UInt64(seed) &* 104_729 &+ 5)
    world.host.writesAtOnce = false
    for _ in 0..<4 {
      for _ in 0..<(4 + Int(world.random.next(below: 12))) { world.step() }
      world.kill()
    }
    world.settle()
    world.check()
  }

  @Test(arguments: 0..<60) func `without kills, too`(seed: Int) {
    var world = SendingWorld(seed: UInt64(seed) &* 7_907 &+ 11)
    world.host.writesAtOnce = seed % 2 == 0
    for _ in 0..<50 { world.step() }
    world.settle()
    world.check()
  }

  /// One conversation, killed at each of its steps in turn: before and after every write and every answer.
  // Proves B5
  @Test func `a kill at every step of a conversation changes nothing`() {
    var length = 0
    var at = 0
    repeat {
      var world = SendingWorld(seed: 77)
      world.host.writesAtOnce = false
      var step = 0
      for round in 0..<60 {
        if step == at { world.kill() }
        step += 1
        switch round % 5 {
        case 0: if round < 40 { world.ask() }
        case 1, 3: world.host.finishWrites(1)
        case 2: world.serveSend(losesAnswer: round % 10 == 2)
        default: world.serveSync()
        }
        world.host.wait(3_000)
      }
      length = step
      world.settle()
      world.check()
      at += 1
    } while at <= length
    #expect(length == 60)
  }
}
