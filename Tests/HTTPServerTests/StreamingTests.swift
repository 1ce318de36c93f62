import EventLoop
import Glibc
import HTTPServer
import Synchronization
import Testing

/// Bytes resident in memory.
private func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  fgets(&line, 128, file)
  let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
  return (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}

@Suite(.serialized) struct StreamingTests {
  private static let transferBytes = 64 << 20

  @Test(.timeLimit(.minutes(1))) func `a large upload flows through without staying in memory`() async throws {
    var router = Router()
    router.on(.put, "/upload", bodyLimit: .max) { request in
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return .text("\(count)")
    }
    try await withServer(router) { _, address in
      let client = try RawClient(address)
      try client.send("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: \(Self.transferBytes)\r\n\r\n")
      let block = [UInt8](repeating: 7, count: 1 << 20)
      let before = residentBytes()
      for _ in 0..<(Self.transferBytes >> 20) { try client.send(block) }
      #expect(try client.answer().text == "\(Self.transferBytes)")
      #expect(residentBytes() - before < 16 << 20)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a large download is made no faster than it is read`() async throws {
    let written = Atomic<Int>(0)
    let block = [UInt8](repeating: 7, count: 64 << 10)
    var router = Router()
    let counter = Counter(written)
    router.on(.get, "/download") { _ in
      Response(
        body: .stream(length: Int64(Self.transferBytes)) { writer in
          for _ in 0..<(Self.transferBytes >> 16) {
            try await writer.write(block)
            counter.add(block.count)
          }
        })
    }
    try await withServer(router) { _, address in
      let client = try RawClient(address, receiveBufferBytes: 64 << 10)
      try client.send("GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
      var received = 0
      while case let bytes = try client.receive(), !bytes.isEmpty {
        received += bytes.count
        // What the kernel's two buffers and the server's queue may hold between the writer and us.
        #expect(counter.value - received < 16 << 20)
        if received >= Self.transferBytes { break }
      }
      #expect(received >= Self.transferBytes)
    }
  }

  @Test func `a handler that does not read stops the client`() async throws {
    let go = Signal<Void>()
    var router = Router()
    router.on(.put, "/upload", bodyLimit: .max) { request in
      _ = await go.wait()
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return .text("\(count)")
    }
    try await withServer(router) { _, address in
      let client = try RawClient(address)
      let total = 64 << 20
      try client.send("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: \(total)\r\n\r\n")
      let block = [UInt8](repeating: 7, count: 1 << 20)
      var sent = 0
      var refusals = 0
      while sent < total && refusals < 200 {
        let count = client.sendWithoutWaiting(Array(block[..<min(block.count, total - sent)]))
        if count > 0 { (sent, refusals) = (sent + count, 0) } else { refusals += 1; usleep(1000) }
      }
      #expect(sent < total)
      go.send()
      while sent < total {
        try client.send(Array(block[..<min(block.count, total - sent)]))
        sent += min(block.count, total - sent)
      }
      #expect(try client.answer().text == "\(total)")
    }
  }

  @Test(arguments: [true, false]) func `a client that goes away cancels the handler at once`(isReset: Bool) async throws {
    let began = Signal<Void>()
    let ended = Signal<Bool>()
    var router = Router()
    router.on(.get, "/poll") { _ in
      began.send()
      do { try await EventLoop.current!.sleep(for: .seconds(3600)) } catch { ended.send(error is CancellationError) }
      return .text("late")
    }
    try await withServer(router) { server, address in
      let client = try RawClient(address)
      try client.send("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await began.wait()
      if isReset { client.reset() } else { client.endSending() }
      #expect(await ended.wait() == true)
      if !isReset { #expect(try client.answer().text == "late") }
    }
  }

  @Test func `a client that goes away in the middle of its body fails the reader`() async throws {
    let began = Signal<Void>()
    let outcome = Signal<HTTPError?>()
    var router = Router()
    router.on(.put, "/upload") { request in
      began.send()
      do { _ = try await request.body.collect(upTo: 100) } catch { outcome.send(error as? HTTPError) }
      return .text("")
    }
    try await withServer(router) { _, address in
      let client = try RawClient(address)
      try client.send("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
      _ = await began.wait()
      client.endSending()
      #expect(await outcome.wait() == .clientGone)
    }
  }
}

private final class Counter: Sendable {
  private let number: Atomic<Int>

  init(_ start: consuming Atomic<Int>) { number = start }

  var value: Int { number.load(ordering: .relaxed) }

  func add(_ count: Int) { number.add(count, ordering: .relaxed) }
}
