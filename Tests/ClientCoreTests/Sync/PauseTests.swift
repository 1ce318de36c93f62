import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct PauseTests {
  @Test(arguments: [SyncMode.v3, .sliding]) func `a pause ends every request and timer, and resuming goes on`(mode: SyncMode) {
    var host = mode == .v3 ? Host.inRoom() : Host.slidingInRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.ask(.whoAmI())
    host.command(.people(.loadMembers(.test)), id: 5)
    host.command(.sync(.pause))
    #expect(host.waiting.isEmpty)
    #expect(host.timers.isEmpty)
    #expect(host.result() == "done")
    #expect(host.result(5) == "cancelled")
    guard case .failed(.cancelled)? = host.ended[7] else { return #expect(Bool(false), "the query goes on") }
    guard case .idle = host.client.connection else { return #expect(Bool(false), "not idle") }
    #expect(host.restarted().client.room(.test)?.draft == "half a")
    host.wait(100_000)
    host.handle(.networkChanged(isOnline: false))
    host.handle(.networkChanged(isOnline: true))
    host.handle(.attentionChanged(isVisible: false, isFocused: false))
    host.handle(.attentionChanged(isVisible: true, isFocused: true))
    host.command(.sending(.send(.test, .text("later"))))
    #expect(host.waiting.isEmpty)
    host.command(.sync(.resume))
    #expect(host.request("sync?") != nil)
    #expect(host.request("/send/") != nil)
    #expect(host.texts() == ["one", "mine sending", "later queued"])
  }

  @Test func `a message whose answer a pause has cut off is sent once`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    let transaction = host.transaction
    host.command(.sync(.pause))
    host.command(.sync(.resume))
    #expect(host.transaction == transaction)
    #expect(host.waiting.filter { $0.request.target.contains("/send/") }.count == 1)
  }

  @Test func `a receipt that a pause has cut off is sent after it`() {
    var host = Host.inRoom()
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    #expect(host.request("/read_markers") != nil)
    host.command(.sync(.pause))
    #expect(host.request("/read_markers") == nil)
    host.command(.sync(.resume))
    host.wait(1_000)
    #expect(host.request("/read_markers") != nil)
  }

  @Test func `what the store has read during a pause is counted`() {
    var host = UnreadTests.inRoom()
    host.loadsAtOnce = false
    host.writesAtOnce = false
    func message(_ id: String) -> String { Wire.event("m.room.encrypted", id, #"{"ciphertext":"x"}"#) }
    host.sync(Wire.join([message("$2"), message("$3")], extra: ReadingTests.receipt("$2", "@me:test")))
    host.finishWrites()
    #expect(!host.untold.isEmpty)
    host.sync(Wire.join([message("$4")]))
    host.finishLoads()
    host.command(.sync(.pause))
    host.finishWrites()
    host.finishLoads()
    host.command(.sync(.resume))
    #expect(host.client.room(.test)?.notificationCount == 2)
    host.sync(Wire.join([message("$5")], extra: ReadingTests.receipt("$4", "@me:test")))
    host.finishWrites()
    host.finishLoads()
    #expect(host.client.room(.test)?.notificationCount == 1)
  }

  @Test func `a message that is not stored yet does not go out by a pause`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.command(.sending(.send(.test, .text("mine"))))
    host.command(.sync(.pause))
    host.command(.sync(.resume))
    #expect(host.request("/send/") == nil)
    host.finishWrites()
    #expect(host.request("/send/") != nil)
  }

  @Test func `a pause while a batch is being stored shows it all the same`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    host.command(.sync(.pause))
    host.finishWrites()
    #expect(host.texts() == ["one", "two"])
    #expect(host.waiting.isEmpty)
    guard case .idle = host.client.connection else { return #expect(Bool(false), "not idle") }
  }

  @Test func `a pause does not lose the token that a refresh brings`() {
    var host = Host.signedIn()
    host.command(.session(.logOut))
    host.answer("/logout", "{}")
    host.command(.session(.logIn(user: "me", password: "x")))
    host.answer(
      "/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T1","refresh_token":"R1","expires_in_ms":100000}"#)
    host.sync()
    host.answer("/sync?", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","error":"","soft_logout":true}"#)
    #expect(host.request("/refresh") != nil)
    host.command(.sync(.pause))
    host.answer("/refresh", #"{"access_token":"T2","refresh_token":"R2"}"#)
    #expect(host.waiting.isEmpty)
    host.command(.sync(.resume))
    #expect(host.request("/sync?")?.request.accessToken == "T2")
  }

  @Test func `who comes back to the page does not wait for the next try`() {
    var host = Host.inRoom()
    host.handle(.attentionChanged(isVisible: false, isFocused: false))
    host.respond("/sync?", .networkError)
    #expect(host.request("/sync?") == nil)
    host.handle(.attentionChanged(isVisible: true, isFocused: true))
    #expect(host.request("/sync?") != nil)
  }

  @Test func `the network going and coming sends nothing twice`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    let transaction = host.transaction
    host.handle(.networkChanged(isOnline: false))
    guard case .offline = host.client.connection else { return #expect(Bool(false), "not offline") }
    host.respond("/send/", .networkError)
    host.respond("/sync?", .networkError)
    #expect(host.request("/send/") == nil)
    #expect(host.request("/sync?") == nil)
    host.handle(.networkChanged(isOnline: true))
    #expect(host.transaction == transaction)
    host.sync(Wire.join([Wire.message("mine", "$2", by: "@me:test", transaction: transaction)]))
    #expect(isRunning(host))
    #expect(host.texts() == ["one", "mine"])
  }
}
