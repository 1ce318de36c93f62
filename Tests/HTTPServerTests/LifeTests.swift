import EventLoop
import HTTPServer
import Testing

@Suite(.serialized) struct DeadlineTests {
  private static let router: Router = {
    var router = Router()
    router.on(.get, "/hello") { _ in .text("hello") }
    router.on(.post, "/echo") { .json(try await $0.body.collect(upTo: 100)) }
    router.on(.get, "/endless") { _ in
      Response(
        body: .stream(length: nil) { writer in
          while true { try await writer.write([UInt8](repeating: 1, count: 64 << 10)) }
        })
    }
    return router
  }()

  @Test(arguments: ["", "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"])
  func `a connection nobody uses is closed`(first: String) async throws {
    try await withServer(Self.router, configure: { $0.keepAliveTimeout = .milliseconds(50) }) { _, address in
      let client = try RawClient(address)
      try client.send(first)
      if !first.isEmpty { #expect(try client.answer().text == "hello") }
      #expect(try client.receiveToEnd() == [])
    }
  }

  @Test func `a header that drips in is ended by its absolute deadline`() async throws {
    try await withServer(Self.router, configure: { $0.headerTimeout = .milliseconds(100) }) { _, address in
      let client = try RawClient(address)
      for byte in Array("GET /hello HT".utf8) { try client.send([byte]) }
      #expect(try client.answer().status == 408)
      #expect(try client.receiveToEnd() == [])
    }
  }

  @Test func `a body that stops coming is ended`() async throws {
    try await withServer(Self.router, configure: { $0.bodyIdleTimeout = .milliseconds(50) }) { _, address in
      let client = try RawClient(address)
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
      #expect(try client.answer().status == 408)
    }
  }

  @Test func `a client that does not read is given up`() async throws {
    let reports = Signal<FinishedRequest>()
    let configure: (inout HTTPServerConfiguration) -> Void = {
      $0.writeStallTimeout = .milliseconds(100)
      $0.requestFinished = { reports.send($0) }
    }
    try await withServer(Self.router, configure: configure) { _, address in
      let client = try RawClient(address)
      try client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
      let report = await reports.wait()
      #expect(report?.routePattern == "/endless")
      _ = client
    }
  }

  @Test func `connections have a limit, and a per-address one`() async throws {
    for perAddress in [false, true] {
      try await withServer(
        Self.router, configure: { perAddress ? ($0.connectionsPerAddressLimit = 2) : ($0.connectionCountLimit = 2) }
      ) { _, address in
        let clients = [try RawClient(address), try RawClient(address)]
        for client in clients {
          try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
          #expect(try client.answer().text == "hello")
        }
        let third = try RawClient(address)
        #expect(try third.answer().status == 503)
      }
    }
  }
}

@Suite(.serialized) struct ShutdownTests {
  @Test func `shutdown lets a request finish, ends long polls, and accepts nothing new`() async throws {
    let began = Signal<Void>()
    let go = Signal<Void>()
    var router = Router()
    router.on(.get, "/work") { _ in
      began.send()
      _ = await go.wait()
      return .text(Task.isCancelled ? "cancelled" : "done")
    }
    router.on(.get, "/late") { _ in .text("late") }
    router.on(.get, "/poll", endsOnShutdown: true) { _ in
      began.send()
      try? await EventLoop.current!.sleep(for: .seconds(3600))
      return .text(Task.isCancelled ? "woken" : "slept")
    }
    try await withServer(router) { server, address in
      let worker = try RawClient(address)
      let poller = try RawClient(address)
      let idle = try RawClient(address)
      try worker.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await began.wait()
      try poller.send("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await began.wait()
      async let stopped: Void = server.shutdown(grace: .seconds(60))
      let polled = try poller.answer()
      #expect(polled.text == "woken" && polled.header("Connection") == "close")
      #expect(try idle.receiveToEnd() == [])
      // A server of a test beside this one may have been given the port since; this one would answer, or say that it is one too many.
      if let late = try? RawClient(address) {
        try? late.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = try? late.answer()
        #expect(answer?.text != "late" && answer?.status != 503)
      }
      go.send()
      #expect(try worker.answer().text == "done")
      _ = try worker.receiveToEnd()
      withExtendedLifetime((poller, worker)) {}
      await stopped
      #expect(server.connectionCount == 0)
    }
  }

  @Test func `a server that drains answers on, and each answer is the last of its connection`() async throws {
    let (began, go) = (Signal<Void>(), Signal<Void>())
    var router = Router()
    router.on(.get, "/poll", endsOnShutdown: true) { _ in
      began.send()
      _ = await go.wait()
      return .text(Task.isCancelled ? "cancelled" : "polled")
    }
    router.on(.get, "/hello") { _ in .text("hello") }
    try await withServer(router) { server, address in
      let (poller, idle) = (try RawClient(address), try RawClient(address))
      try idle.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try idle.answer().header("Connection") == nil)
      try poller.send("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await began.wait()
      await server.drain()
      for client in [idle, try RawClient(address)] {
        try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.text == "hello" && answer.header("Connection") == "close")
        #expect(try client.receiveToEnd() == [])
      }
      go.send()
      let polled = try poller.answer()
      #expect(polled.text == "polled" && polled.header("Connection") == "close")
    }
  }

  @Test func `after the grace what still runs is cancelled`() async throws {
    let began = Signal<Void>()
    var router = Router()
    router.on(.get, "/work") { _ in
      began.send()
      try? await EventLoop.current!.sleep(for: .seconds(3600))
      return .text(Task.isCancelled ? "cancelled" : "done")
    }
    try await withServer(router) { server, address in
      let client = try RawClient(address)
      try client.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await began.wait()
      async let stopped: Void = server.shutdown(grace: .milliseconds(10))
      #expect(try client.answer().text == "cancelled")
      await stopped
    }
  }

  @Test func `run returns when the server has been shut down`() async throws {
    let loops = try EventLoopGroup(count: 1)
    let pool = try BlockingPool(threads: 1)
    let server = HTTPServer(
      configuration: HTTPServerConfiguration(bind: [.loopback]), router: Router(), loops: loops, pool: pool)
    let running = Task { try await server.run() }
    while server.boundAddresses.isEmpty { await Task.yield() }
    await server.shutdown(grace: .zero)
    try await running.value
    await loops.shutdown()
    await pool.shutdown()
  }
}
