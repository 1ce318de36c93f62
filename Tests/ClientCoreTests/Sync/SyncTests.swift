import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SyncTests {
  @Test func `the first sync asks without since and without waiting, the next with both`() {
    var host = Host.signedIn()
    let first = host.request("/sync?")?.request
    #expect(first?.target.contains("since=") == false)
    #expect(first?.target.contains("timeout=0") == true)
    #expect(first?.target.contains("lazy_load_members") == true)
    #expect(first?.accessToken == "T")
    guard case .connecting = host.client.connection else { return #expect(Bool(false), "not connecting") }
    host.sync()
    guard case .running = host.client.connection else { return #expect(Bool(false), "not running") }
    let second = host.request("/sync?")?.request
    #expect(second?.target.contains("since=s1") == true)
    #expect(second?.target.contains("timeout=30000") == true)
    #expect((second?.timeoutMilliseconds ?? 0) > 30_000)
  }

  @Test func `nothing of a batch is shown before it is stored`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(host.texts() == ["one"])
    #expect(host.request("/sync?") == nil)
    #expect(host.restarted().client.syncLoop.position.token == "s1")
    host.finishWrites()
    #expect(host.texts() == ["one", "two"])
    #expect(host.restarted().client.syncLoop.position.token == "s2")
  }

  @Test func `the token and its data are one batch`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(host.unwritten.count == 1)
    let keys = host.unwritten[0].1.map { operation in
      switch operation {
      case .put(let key, _), .delete(let key), .deleteAll(let key): key.string
      }
    }
    #expect(keys.contains("a/sync"))
    #expect(keys.contains { $0.hasPrefix("t/") })
    #expect(keys.contains { $0.hasPrefix("a/room/") })
  }

  @Test func `a restart shows the rooms before any answer, and a room from the store`() {
    let host = Host.inRoom([Wire.message("one", "$1"), Wire.message("two", "$2")])
    var next = host.restarted()
    #expect(next.client.sessionState == .signedIn)
    #expect(next.client.roomIDs == [.test])
    #expect(next.client.room(.test)?.name.english == "Alice and Bob")
    #expect(next.client.room(.test)?.preview?.content?.body == "two")
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "two"])
    #expect(next.request("/sync?")?.request.target.contains("since=s1") == true)
  }

  @Test func `failures wait longer each time, with a random part, and end with the network`() {
    var host = Host.signedIn()
    var delays: [Int64] = []
    for _ in 0..<8 {
      host.respond("/sync?", .networkError)
      guard case .reconnecting(let retryAt) = host.client.connection else {
        return #expect(Bool(false), "not reconnecting")
      }
      delays.append(retryAt - host.now)
      host.wait(retryAt - host.now)
    }
    for (n, delay) in delays.enumerated() {
      let whole = min(Int64(30_000), 1000 << Int64(n))
      #expect((whole / 2...whole).contains(delay))
    }
    host.sync()
    guard case .running = host.client.connection else { return #expect(Bool(false), "not running") }
  }

  @Test func `M_LIMIT_EXCEEDED is waited out as the server says`() {
    var host = Host.signedIn()
    host.answer("/sync?", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":7000}"#)
    host.wait(6999)
    #expect(host.request("/sync?") == nil)
    host.wait(400)
    #expect(host.request("/sync?") != nil)
  }

  @Test func `the network coming back ends the wait at once`() {
    var host = Host.signedIn()
    host.respond("/sync?", .networkError)
    host.handle(.networkChanged(isOnline: false))
    #expect(host.request("/sync?") == nil)
    host.handle(.networkChanged(isOnline: true))
    #expect(host.request("/sync?") != nil)
    #expect(host.timers.isEmpty)
  }

  @Test func `an unknown token ends the session and empties the store`() {
    var host = Host.inRoom()
    host.answer("/sync?", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","error":""}"#)
    #expect(host.client.sessionState == .signedOut)
    #expect(host.store.isEmpty)
    #expect(host.waiting.isEmpty)
    #expect(host.timers.isEmpty)
    #expect(host.client.roomIDs.isEmpty)
  }

  @Test func `a soft logout keeps everything until the same user is back`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    host.answer("/sync?", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","error":"","soft_logout":true}"#)
    #expect(host.client.sessionState == .softLoggedOut)
    #expect(host.texts().first == "one")
    host.command(.session(.logIn(user: "me", password: "secret")))
    #expect(host.body("/login")?["device_id"]?.string == "D")
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T2"}"#)
    #expect(host.request("/sync?")?.request.accessToken == "T2")
    #expect(host.request("/sync?")?.request.target.contains("since=s1") == true)
    #expect(host.request("/send/")?.request.accessToken == "T2")
  }

  @Test func `a corrupt record means a fresh sync, with login, outbox and drafts kept`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.wait(1000)
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("mine"))))
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.wait(1000)
    for key in host.store.keys.filter({ $0.hasPrefix("a/room/") }) {
      host.store[key] = Array("{\"id\":\"!room:test\"".utf8)
    }
    var next = host.restarted()
    #expect(next.client.sessionState == .signedIn)
    #expect(next.client.roomIDs.isEmpty)
    #expect(next.request("/sync?")?.request.target.contains("since=") == false)
    #expect(next.store.keys.allSatisfy { !$0.hasPrefix("t/") && !$0.hasPrefix("a/room/") })
    next.command(.timeline(.openRoom(.test)))
    next.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(next.texts().first == "one")
    #expect(next.texts().count == 2)
    #expect(next.client.room(.test)?.draft == "half a")
  }

  @Test func `every record may be garbage without a trap`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    for key in host.store.keys.sorted() {
      let whole = host.store[key] ?? []
      for length in 0..<whole.count {
        var broken = host.store
        broken[key] = Array(whole[..<length])
        var next = Host(store: broken)
        next.handle(.start)
        next.command(.timeline(.openRoom(.test)))
        if key != "a/session" { #expect(next.client.sessionState == .signedIn) }
      }
    }
  }

  @Test func `another schema version means a fresh sync`() {
    var host = Host.inRoom()
    host.store["a/schema"] = Array("999".utf8)
    let next = host.restarted()
    #expect(next.client.sessionState == .signedIn)
    #expect(next.client.roomIDs.isEmpty)
    #expect(next.store["a/schema"] == Array("\(StoreSchema.current)".utf8))
  }

  @Test func `a store that fails leaves the client running and the store as it was`() {
    var host = Host.inRoom()
    host.storeWorks = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(host.texts() == ["one", "two"])
    host.storeWorks = true
    host.sync(Wire.join([Wire.message("three", "$3")]))
    host.command(.sending(.send(.test, .text("mine"))))
    #expect(host.texts() == ["one", "two", "three", "mine sending"])
    var next = host.restarted()
    #expect(next.client.syncLoop.position.token == "s1")
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one"])
  }

  @Test(arguments: ["", "[]", "{}", #"{"next_batch":1}"#, "not json"]) func `an answer that is no sync is a failure`(
    body: String
  ) {
    var host = Host.inRoom()
    host.answer("/sync?", body)
    guard case .reconnecting = host.client.connection else { return #expect(Bool(false), "not reconnecting") }
    #expect(host.client.syncLoop.position.token == "s1")
  }
}
