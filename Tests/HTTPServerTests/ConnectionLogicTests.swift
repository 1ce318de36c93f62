@testable import HTTPServer
import Testing

/// What a run of bytes means, pieces of a body joined.
private enum Meaning: Equatable {
  case request(Method, target: String, body: String, keepsAlive: Bool)
  case malformedBody
  case refused(Int)
}

private func meaning(
  of text: String, piece: Int, headerBytesLimit: Int = 1024, headerCountLimit: Int = 10
) -> [Meaning] {
  meaning(of: Array(text.utf8), piece: piece, headerBytesLimit: headerBytesLimit, headerCountLimit: headerCountLimit)
}

private func meaning(of bytes: [UInt8], piece: Int, headerBytesLimit: Int = 1024, headerCountLimit: Int = 10) -> [Meaning] {
  var logic = ConnectionLogic(
    headerBytesLimit: headerBytesLimit, headerCountLimit: headerCountLimit, pipelinedBytesLimit: 1024)
  var meanings: [Meaning] = []
  var head: RequestHead?
  var body: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: piece) {
    var events: [ConnectionLogic.Event] = []
    bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { logic.receive($0, into: &events) }
    while !events.isEmpty {
      let batch = events
      events = []
      for event in batch {
        switch event {
        case .request(let found): (head, body) = (found, [])
        case .body(let bytes): body += bytes
        case .bodyMalformed: meanings.append(.malformedBody)
        case .refuse(let status): meanings.append(.refused(Int(status.code)))
        case .bodyEnd:
          let target = String(decoding: head!.headers.bytes[..<head!.headers.targetCount], as: UTF8.self)
          meanings.append(
            .request(head!.method, target: target, body: String(decoding: body, as: UTF8.self), keepsAlive: head!.keepsAlive))
          logic.responseIsDone(into: &events)
        }
      }
    }
  }
  return meanings
}

@Suite struct ConnectionLogicTests {
  private static let conversation =
    "GET /a?b=c HTTP/1.1\r\nHost: x\r\nX-Long: " + String(repeating: "v", count: 50) + "\r\n\r\n"
    + "POST /length HTTP/1.1\r\nhost: x\r\nContent-Length: 5\r\n\r\nhello"
    + "PUT /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
    + "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"
    + "GET http://example.org/abs?q HTTP/1.1\r\nHost: example.org\r\n\r\n"
    + "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

  private static let expected: [Meaning] = [
    .request(.get, target: "/a?b=c", body: "", keepsAlive: true),
    .request(.post, target: "/length", body: "hello", keepsAlive: true),
    .request(.put, target: "/chunks", body: "abc0123456789", keepsAlive: true),
    .request(.options, target: "*", body: "", keepsAlive: true),
    .request(.get, target: "/abs?q", body: "", keepsAlive: true),
    .request(.head, target: "/", body: "", keepsAlive: false)
  ]

  @Test(arguments: 1...Self.conversation.utf8.count)
  func `pipelined requests mean the same in pieces of any size`(piece: Int) {
    #expect(meaning(of: Self.conversation, piece: piece) == Self.expected)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400), ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 400),
    ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("PUT / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400)
  ])
  func `what is no proper request is refused, whole or byte by byte`(text: String, status: Int) {
    #expect(meaning(of: text, piece: text.utf8.count) == [.refused(status)])
    #expect(meaning(of: text, piece: 1) == [.refused(status)])
  }

  @Test func `HTTP 1.0 needs no Host and ends with its response`() {
    let expected = [Meaning.request(.get, target: "/", body: "", keepsAlive: false)]
    #expect(meaning(of: "GET / HTTP/1.0\r\n\r\n", piece: 1) == expected)
  }

  /// A request whose target, names and values are `count` bytes in all.
  private func request(headerBytes count: Int, in target: Bool) -> String {
    let filler = String(repeating: "a", count: count - "/Hostx".utf8.count - (target ? 0 : 1))
    return target ? "GET /\(filler) HTTP/1.1\r\nHost: x\r\n\r\n" : "GET / HTTP/1.1\r\nHost: x\r\nF: \(filler)\r\n\r\n"
  }

  @Test(arguments: [1, 7, 2000])
  func `header bytes have a limit`(piece: Int) {
    for target in [true, false] {
      #expect(meaning(of: request(headerBytes: 300, in: target), piece: piece, headerBytesLimit: 300).count == 1)
      guard case .request = meaning(of: request(headerBytes: 300, in: target), piece: piece, headerBytesLimit: 300)[0] else {
        Issue.record("refused at the limit")
        return
      }
      #expect(meaning(of: request(headerBytes: 301, in: target), piece: piece, headerBytesLimit: 300) == [.refused(431)])
    }
    let long = "GET /" + String(repeating: "a", count: 300) + " HTTP/1.1\r\nHost: x\r\n\r\n"
    #expect(meaning(of: long, piece: piece, headerBytesLimit: 300) == [.refused(414)])
  }

  @Test func `header fields have a limit`() {
    func request(_ count: Int) -> String {
      "GET / HTTP/1.1\r\nHost: x\r\n" + (1..<count).map { "F\($0): v\r\n" }.joined() + "\r\n"
    }
    #expect(meaning(of: request(10), piece: 3) == [.request(.get, target: "/", body: "", keepsAlive: true)])
    #expect(meaning(of: request(11), piece: 3) == [.refused(431)])
  }

  @Test func `trailers have the limit of headers`() {
    func request(_ count: Int) -> String {
      "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: " + String(repeating: "t", count: count)
        + "\r\n\r\n"
    }
    #expect(meaning(of: request(299), piece: 5, headerBytesLimit: 300).count == 1)
    #expect(meaning(of: request(300), piece: 5, headerBytesLimit: 300) == [.malformedBody])
  }

  @Test func `an invalid chunk breaks the body`() {
    let text = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
    #expect(meaning(of: text, piece: 1) == [.malformedBody])
    #expect(meaning(of: text, piece: 500) == [.refused(400)])
  }

  @Test func `bytes behind a request are kept up to a limit`() {
    var logic = ConnectionLogic(headerBytesLimit: 1024, headerCountLimit: 10, pipelinedBytesLimit: 64)
    var events: [ConnectionLogic.Event] = []
    Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8).withUnsafeBytes { logic.receive($0, into: &events) }
    #expect(logic.phase == .answering)
    [UInt8](repeating: 65, count: 63).withUnsafeBytes { logic.receive($0, into: &events) }
    #expect(logic.wantsBytes)
    [UInt8](repeating: 65, count: 1).withUnsafeBytes { logic.receive($0, into: &events) }
    #expect(!logic.wantsBytes)
  }

  @Test func `arbitrary bytes never trap`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1500 {
      var bytes = Array(Self.conversation.utf8)
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = meaning(of: bytes, piece: Int.random(in: 1...200, using: &generator))
    }
  }
}
