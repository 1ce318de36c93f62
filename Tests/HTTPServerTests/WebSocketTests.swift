import Glibc
@testable import HTTPServer
import Testing

/// The client's end of a WebSocket over a raw socket. RFC 6455 §5.2.
private struct WebSocketClient {
  struct Frame: Equatable {
    var opcode: UInt8
    var payload: [UInt8]

    static func close(_ code: Int) -> Frame { Frame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)]) }
    static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }
  }

  static let handshake =
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

  let client: RawClient

  init(_ address: SocketAddress) throws {
    client = try RawClient(address)
    try client.send(Self.handshake)
    let answer = try client.answer()
    #expect(answer.status == 101)
    // The key and the answer are RFC 6455's example, §1.3.
    #expect(answer.header("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  static func bytes(_ frame: Frame, isFinal: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = [frame.opcode | (isFinal ? 0x80 : 0)]
    switch frame.payload.count {
    case ..<126: bytes.append(0x80 | UInt8(frame.payload.count))
    case ..<65536: bytes += [0x80 | 126, UInt8(frame.payload.count >> 8), UInt8(frame.payload.count & 0xFF)]
    default: bytes += [0x80 | 127] + (0..<8).map { UInt8(frame.payload.count >> (56 - 8 * $0) & 0xFF) }
    }
    let mask: [UInt8] = [1, 2, 3, 4]
    return bytes + mask + frame.payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  func send(_ frame: Frame, isFinal: Bool = true) throws { try client.send(Self.bytes(frame, isFinal: isFinal)) }

  func receive() throws -> Frame {
    let head = try client.receive(exactly: 2)
    var count = Int(head[1])
    if count == 126 { count = try client.receive(exactly: 2).reduce(0) { $0 << 8 | Int($1) } }
    if count == 127 { count = try client.receive(exactly: 8).reduce(0) { $0 << 8 | Int($1) } }
    return Frame(opcode: head[0] & 0x0F, payload: try client.receive(exactly: count))
  }
}

@Suite(.serialized) struct WebSocketTests {
  private let outcome = Signal<String>()

  private var router: Router {
    let outcome = outcome
    var router = Router()
    router.on(.get, "/ws") { _ in
      Response(
        body: .webSocket(subprotocol: nil) { socket in
          do {
            for try await message in socket.messages {
              if message == .text("bye") { return }
              try await socket.send(message)
            }
            outcome.send("closed")
          } catch {
            outcome.send("\(error)")
          }
        })
    }
    return router
  }

  @Test func `messages of every length come back, also in fragments and byte by byte`() async throws {
    try await withServer(router) { _, address in
      let socket = try WebSocketClient(address)
      for count in [0, 1, 125, 126, 65535, 65536] {
        let frame = WebSocketClient.Frame(opcode: 2, payload: [UInt8](repeating: UInt8(count & 0x7F), count: count))
        try socket.send(frame)
        #expect(try socket.receive() == frame)
      }
      try socket.send(.text("frag"), isFinal: false)
      try socket.send(.init(opcode: 9, payload: [1, 2]))
      try socket.send(.init(opcode: 0, payload: Array("ment".utf8)))
      #expect(try socket.receive() == .init(opcode: 10, payload: [1, 2]))
      #expect(try socket.receive() == .text("fragment"))
      for byte in WebSocketClient.bytes(.text("slow")) { try socket.client.send([byte]) }
      #expect(try socket.receive() == .text("slow"))
    }
  }

  @Test func `a frame right behind the handshake is not lost`() async throws {
    try await withServer(router) { _, address in
      let client = try RawClient(address)
      try client.send(Array(WebSocketClient.handshake.utf8) + WebSocketClient.bytes(.text("early")))
      #expect(try client.answer().status == 101)
      #expect(try client.receive(exactly: 7).suffix(5).elementsEqual("early".utf8))
    }
  }

  @Test func `either side may close`() async throws {
    try await withServer(router) { server, address in
      let mine = try WebSocketClient(address)
      try mine.send(.close(1000))
      #expect(try mine.receive() == .close(1000))
      #expect(try mine.client.receiveToEnd() == [])
      #expect(await outcome.wait() == "closed")

      let theirs = try WebSocketClient(address)
      try theirs.send(.text("bye"))
      #expect(try theirs.receive() == .close(1000))
      try theirs.send(.close(1000))
      #expect(try theirs.client.receiveToEnd() == [])

      let broken = try WebSocketClient(address)
      broken.client.reset()
      #expect(await outcome.wait() == "clientGone")
    }
  }

  @Test func `a message may be as long as the limit and no longer`() async throws {
    try await withServer(router, configure: { $0.webSocketMessageBytesLimit = 1000 }) { _, address in
      let socket = try WebSocketClient(address)
      let longest = WebSocketClient.Frame(opcode: 2, payload: [UInt8](repeating: 1, count: 1000))
      try socket.send(longest)
      #expect(try socket.receive() == longest)
      try socket.send(.init(opcode: 2, payload: [UInt8](repeating: 1, count: 1001)))
      #expect(try socket.receive().payload.prefix(2).elementsEqual([0x03, 0xF1]))
      #expect(await outcome.wait() == "clientGone")
    }
  }

  @Test(arguments: [
    (UInt8(1), [UInt8(0xFF)], [UInt8(0x03), 0xEF]), (UInt8(3), [], [0x03, 0xEA])
  ])
  func `what breaks the protocol is closed with its code`(opcode: UInt8, payload: [UInt8], code: [UInt8]) async throws {
    try await withServer(router) { _, address in
      let socket = try WebSocketClient(address)
      try socket.send(.init(opcode: opcode, payload: payload))
      let close = try socket.receive()
      #expect(close.opcode == 8 && close.payload.prefix(2).elementsEqual(code))
      #expect(await outcome.wait() == "clientGone")
    }
  }

  @Test func `a silent client is pinged and, still silent, closed`() async throws {
    try await withServer(router, configure: { $0.webSocketPingInterval = .milliseconds(50) }) { _, address in
      let socket = try WebSocketClient(address)
      #expect(try socket.receive() == .init(opcode: 9, payload: []))
      #expect(try socket.client.receiveToEnd() == [])
      #expect(await outcome.wait() == "clientGone")
    }
  }

  @Test func `a client that pings and does not read is not read either`() async throws {
    try await withServer(router, configure: { $0.outputHighWaterBytes = 64 << 10 }) { _, address in
      let socket = try WebSocketClient(address)
      let pings = (0..<100).flatMap { _ in WebSocketClient.bytes(.init(opcode: 9, payload: [UInt8](repeating: 7, count: 125))) }
      // Far more than the buffers of the system, both ways, and ours hold: a server that took it all would have to keep the answers.
      var (sent, refusals) = (0, 0)
      while sent < 128 << 20, refusals < 200 {
        // From the middle of one on, where one was cut.
        let count = socket.client.sendWithoutWaiting(Array(pings[(sent % pings.count)...]))
        if count > 0 { (sent, refusals) = (sent + count, 0) } else { refusals += 1 }
        if count <= 0 { usleep(2_000) }
      }
      #expect(sent < 128 << 20, "all pings were taken")
      for _ in 0..<1_000 { #expect(try socket.receive().opcode == 10) }
    }
  }

  @Test func `shutdown says good-bye`() async throws {
    try await withServer(router) { server, address in
      let socket = try WebSocketClient(address)
      async let stopped: Void = server.shutdown(grace: .seconds(60))
      #expect(try socket.receive() == .close(1001))
      try socket.send(.close(1001))
      #expect(try socket.client.receiveToEnd() == [])
      #expect(await outcome.wait() == "closed")
      await stopped
    }
  }

  @Test func `a request that is no handshake is told to upgrade`() async throws {
    try await withServer(router) { _, address in
      for broken in ["Sec-WebSocket-Version: 13", "Upgrade: WebSocket", "Sec-WebSocket-Key"] {
        let client = try RawClient(address)
        try client.send(WebSocketClient.handshake.split(separator: broken).joined(separator: "X-Other: y"))
        let answer = try client.answer()
        #expect(answer.status == 426 && answer.header("Sec-WebSocket-Version") == "13")
      }
    }
  }
}
