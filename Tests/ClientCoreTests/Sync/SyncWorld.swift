import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A client whose process dies at any moment, on a server that forgets and a network that loses; each process syncs in its own way.
struct SyncWorld {
  var host: Host
  var server: ModelHomeserver
  var random: RandomSource
  private(set) var kills = 0
  /// Whether the host wants presence, which a process forgets.
  private var wantsPresence = false

  /// More than a first answer of sliding sync brings.
  static let roomCount = Limits.firstRooms + 3
  /// Those that are looked at.
  static let shown = 3

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
    server = ModelHomeserver(roomCount: Self.roomCount)
    host = Host.signedIn(seed: seed, mode: Self.modes[Int(seed % 3)])
    host.writesAtOnce = false
    host.loadsAtOnce = false
    open(0)
  }

  private func id(_ i: Int) -> RoomID { RoomID(trusted: ByteString(server.rooms[i].id)) }

  private static let modes = [SyncMode.v3, .sliding, .automatic]

  private mutating func open(_ i: Int) { host.command(.timeline(.openRoom(id(i)))) }

  private mutating func below(_ bound: Int) -> Int { Int(random.next(below: Int64(bound))) }

  // MARK: Steps

  mutating func step() {
    switch below(18) {
    case 0...2: server.say(in: below(3) == 0 ? below(Self.roomCount) : below(Self.shown))
    case 3: for _ in 0..<below(8) { server.say(in: below(Self.shown)) }
    case 4...6: serveSync()
    case 7: if host.request("sync?") != nil { host.respond("sync?", .networkError) }
    case 8:
      if below(4) == 0 { server.forgetConnections() }
      if below(8) == 0 { server.offersSliding.toggle() }
      if below(6) == 0 { togglePresence() }
    case 9: host.finishWrites(below(3))
    case 10: host.finishLoads(below(3))
    case 11: host.finishWrites()
    case 12: host.finishLoads()
    case 13: open(below(Self.shown))
    case 14: fillGap(below(Self.shown))
    case 15: host.command(.timeline(.paginateBack(.live(id(below(Self.shown))))))
    case 16: if below(2) == 0 { servePage() } else { host.wait(40_000) }
    default:
      if below(3) == 0 {
        server.move(in: below(Self.roomCount))
      } else {
        host.command(.timeline(.closeRoom(id(below(Self.shown)))))
      }
    }
    check()
  }

  private mutating func togglePresence() {
    wantsPresence.toggle()
    host.handle(.presenceWanted(wantsPresence))
  }

  private mutating func serveSync() {
    if host.request("/versions") != nil { return host.answer("/versions", server.versions) }
    guard let request = host.request("sync?")?.request else { return }
    if request.target.contains("/v3/sync?") {
      return host.answer("sync?", server.sync(since: number("since=", request.target)))
    }
    guard let body = request.body.flatMap({ try? JSON.parse($0) }) else { return }
    if !server.offersSliding {
      host.answer("sync?", status: 404, #"{"errcode":"M_UNRECOGNIZED","error":""}"#)
    } else if let answer = server.slide(pos: number("pos=", request.target), body) {
      host.answer("sync?", answer)
    } else {
      host.answer("sync?", status: 400, #"{"errcode":"M_UNKNOWN_POS","error":""}"#)
    }
  }

  private mutating func servePage() {
    guard let target = host.request("/messages")?.request.target else { return }
    let room = server.rooms.first { target.contains("%21" + $0.id.dropFirst().prefix { $0 != ":" } + "%3A") }
    host.answer("/messages", server.page(room?.id ?? "", from: number("from=p", target)))
  }

  private func number(_ name: String, _ target: String) -> Int? {
    guard let range = target.firstRange(of: name) else { return nil }
    return Int(target[range.upperBound...].prefix { $0.isNumber })
  }

  private mutating func fillGap(_ i: Int) {
    let gap = host.items(id(i)).first { if case .gap = $0.content { true } else { false } }
    if let gap { host.command(.timeline(.fillGap(.live(id(i)), gap.id))) }
  }

  /// Some of the writes under way have become durable, in their order.
  mutating func kill() {
    kills += 1
    host.finishWrites(below(3))
    host = host.restarted(seed: random.next(), mode: below(3) == 0 ? Self.modes[below(3)] : nil)
    wantsPresence = false
    host.writesAtOnce = false
    host.loadsAtOnce = false
    for i in 0..<Self.shown where below(2) == 0 { open(i) }
  }

  // MARK: What must hold

  /// At any moment: no event twice, none out of order, none missing where no gap says so.
  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    for i in 0..<Self.shown {
      var last: Int?
      var seen: Set<Int> = []
      for item in host.items(id(i)) {
        guard let event = item.eventID?.string, let n = event.split(separator: "-").last.flatMap({ Int($0) }) else {
          last = nil
          continue
        }
        if !seen.insert(n).inserted { Issue.record("\(event) stands twice", sourceLocation: sourceLocation) }
        if let last, n != last + 1 {
          Issue.record("\(n) follows \(last): \(host.texts(id(i)))", sourceLocation: sourceLocation)
        }
        last = n
      }
    }
  }

  /// On a good network everything comes to rest.
  mutating func settle() {
    server.offersSliding = true
    host.writesAtOnce = true
    host.loadsAtOnce = true
    host.finishWrites()
    host.finishLoads()
    for i in 0..<Self.shown { open(i) }
    var idle = 0
    for _ in 0..<400 where idle < 3 {
      let before = state
      serveSync()
      servePage()
      for i in 0..<Self.shown where server.rooms[i].isJoined {
        fillGap(i)
        if host.client.room(id(i))?.timeline.backState == .idle { host.command(.timeline(.paginateBack(.live(id(i))))) }
      }
      host.wait(31_000)
      check()
      idle = state == before && host.request("/messages") == nil ? idle + 1 : 0
    }
  }

  private var state: String { (0..<Self.shown).map { "\(host.texts(id($0)))" }.joined() + "\(host.client.roomIDs.count)" }

  func checkSettled() {
    #expect(isRunning(host))
    let joined = server.rooms.filter { $0.isJoined }.map { $0.id }
    #expect(Set(host.client.roomIDs.map { $0.string }) == Set(joined))
    for i in 0..<Self.shown where server.rooms[i].isJoined {
      let bodies = server.rooms[i].events.map { $0.body }
      #expect(host.texts(id(i)) == bodies)
      #expect(host.client.room(id(i))?.preview?.content?.body == bodies.last.map { ByteString($0) })
    }
    // All of it is in the store: it is there without a server.
    var offline = host.restarted()
    #expect(offline.client.roomIDs == host.client.roomIDs)
    for i in 0..<Self.shown where server.rooms[i].isJoined {
      offline.command(.timeline(.openRoom(id(i))))
      for _ in 0..<100 { offline.command(.timeline(.paginateBack(.live(id(i))))) }
      #expect(offline.texts(id(i)) == server.rooms[i].events.map { $0.body })
      #expect(offline.client.room(id(i))?.state.history.events == storedEvents(id(i)))
    }
  }

  /// Counted from the records.
  private func storedEvents(_ id: RoomID) -> Int {
    host.store.filter { $0.key.string.hasPrefix(StoreKey.timeline(of: id).string) }.reduce(0) { sum, record in
      sum + (Segment(StoreRecord(key: record.key, value: record.value))?.events.count ?? 0)
    }
  }
}
