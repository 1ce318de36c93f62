import MatrixModel
import Testing

@testable import ClientCore

/// Nobody has to press anything once the network is back.
@Suite struct InterruptedPagesTests {
  private static func withGap() -> Host {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    return host
  }

  @Test func `a gap whose page was lost is asked for again after a while`() {
    var host = Self.withGap()
    host.respond("/messages", .networkError)
    #expect(host.texts() == ["one", "[gap failed]", "five"])
    host.wait(1_000)
    #expect(host.texts() == ["one", "[gap loading]", "five"])
    host.answer("/messages", TimelineTests.page([Wire.message("four", "$4"), Wire.message("one", "$1")], end: "t0"))
    #expect(host.texts() == ["one", "four", "five"])
  }

  @Test func `when the network is back, every page that was lost is asked for at once`() {
    var host = Self.withGap()
    host.command(.timeline(.paginateBack(.test)))
    host.handle(.networkChanged(isOnline: false))
    host.respond("/messages", .networkError)
    host.respond("/messages", .networkError)
    host.wait(60_000)
    #expect(host.request("/messages") == nil)
    host.handle(.networkChanged(isOnline: true))
    #expect(host.waiting.filter { $0.request.target.contains("/messages") }.count == 2)
    #expect(host.client.room(.test)?.timeline.backState == .loading)
  }

  @Test func `when the server answers again after failed syncs, what was lost is asked for at once`() {
    var host = Self.withGap()
    host.respond("/sync?", .networkError)
    host.respond("/messages", .networkError)
    for _ in 0..<Limits.pageRetries {
      host.wait(Limits.backoffLastMilliseconds)
      if host.request("/sync?") != nil { host.respond("/sync?", .networkError) }
      if host.request("/messages") != nil { host.respond("/messages", .networkError) }
    }
    host.wait(Limits.backoffLastMilliseconds)
    #expect(host.request("/messages") == nil)
    host.sync()
    #expect(host.request("/messages") != nil)
  }

  @Test func `what the server refuses is not asked for again`() {
    var host = Self.withGap()
    host.answer("/messages", status: 403, #"{"errcode":"M_FORBIDDEN","error":"No"}"#)
    host.wait(600_000)
    #expect(host.request("/messages") == nil)
    host.handle(.networkChanged(isOnline: false))
    host.handle(.networkChanged(isOnline: true))
    #expect(host.request("/messages") == nil)
  }

  @Test func `a server that asks for patience gets it`() {
    var host = Self.withGap()
    host.answer("/messages", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"Slow","retry_after_ms":7000}"#)
    host.wait(6_999)
    #expect(host.request("/messages") == nil)
    host.wait(300)
    #expect(host.request("/messages") != nil)
  }

  @Test func `a timeline that was closed meanwhile is left alone`() {
    let key = TimelineKey(.test, .thread(EventID(trusted: "$1")))
    var host = Host.inRoom()
    host.command(.timeline(.open(key)))
    host.respond("/relations/", .networkError)
    #expect(host.client.timeline(key)?.loadState == .failed)
    host.wait(1_000)
    #expect(host.request("/relations/") != nil)
    host.respond("/relations/", .networkError)
    host.command(.timeline(.close(key)))
    host.wait(60_000)
    #expect(host.request("/relations/") == nil)
  }
}
