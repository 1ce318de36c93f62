import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SyncPaceTests {
  private static func paced() -> Host {
    var host = Host.inRoom()
    host.client.pacesSyncs = true
    return host
  }

  @Test func `where syncs follow one another at once, a few do, then twenty a second`() {
    var host = Self.paced()
    var sent = 0
    let start = host.now
    while host.now < start + 10_000 {
      if host.request("/sync?") != nil {
        host.sync()
        sent += 1
      } else {
        host.wait(1)
      }
    }
    #expect((200...212).contains(sent))
  }

  @Test func `what comes now and then is asked for without delay`() {
    var host = Self.paced()
    host.wait(1_000)
    for n in 0..<50 {
      #expect(host.request("/sync?") != nil)
      host.sync(Wire.join([Wire.message("m\(n)", "$m\(n)")], token: nil))
      host.wait(60)
    }
    #expect(host.texts().count == 51)
  }

  @Test func `a clock that goes back stops nothing`() {
    var pace = SyncPace()
    for _ in 0..<Limits.syncBurst { #expect(pace.next(now: 1_000_000) == 0) }
    #expect(pace.next(now: 5) == Limits.syncPaceMilliseconds)
    #expect(pace.next(now: 5 + Limits.syncPaceMilliseconds) == 0)
  }

  @Test func `a pause while the next sync waits ends the waiting, and it goes on afterwards`() {
    var host = Self.paced()
    while host.request("/sync?") != nil { host.sync() }
    host.command(.sync(.pause))
    host.wait(1_000)
    #expect(host.request("/sync?") == nil)
    host.command(.sync(.resume))
    #expect(host.request("/sync?") != nil)
  }
}
