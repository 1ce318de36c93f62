import Testing

@testable import matrix_load

@Suite("matrix-load's connection", .serialized)
struct ConnectionTests {
  /// Status and body of each of so many requests, one after the other on one connection.
  private func talk(to responder: Responder, requests: Int) throws -> [(status: Int, body: String)] {
    let loop = Loop()
    let target = try #require(Target(base: "http://127.0.0.1:\(responder.port)", anyAddress: false))
    let connection = Connection(slot: 0, loop: loop, target: target)
    var answers: [(status: Int, body: String)] = []
    for count in 1...requests {
      connection.send(target.request("GET", "/")) {
        answers.append(($0.status, String(decoding: $0.body, as: UTF8.self)))
      }
      loop.run(until: monotonicSeconds() + 20, while: { answers.count < count })
    }
    connection.close()
    loop.run(until: 0)
    return answers
  }

  @Test(
    "reads bodies of every framing",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nhello",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
    ])
  func framing(_ answer: String) throws {
    let answers = try talk(to: Responder(answers: [answer]), requests: 3)
    #expect(answers.map(\.status) == [200, 200, 200])
    #expect(answers.map(\.body) == ["hello", "hello", "hello"])
  }

  @Test("sends again, once, what a server missed by closing an idle connection")
  func staleConnection() throws {
    let one = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
    let answers = try talk(to: Responder(answers: [one, one]), requests: 7)
    #expect(answers.map(\.body) == Array(repeating: "1", count: 7))
  }

  @Test(
    "calls it an error when there is no whole answer",
    arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "nonsense\r\n\r\n"])
  func broken(_ answer: String) throws {
    #expect(try talk(to: Responder(answers: [answer]), requests: 2).map(\.status) == [0, 0])
  }

  @Test("calls it an error when nobody listens")
  func refused() throws {
    let port = Responder(answers: []).port
    let loop = Loop()
    let target = try #require(Target(base: "http://127.0.0.1:\(port)", anyAddress: false))
    let connection = Connection(slot: 0, loop: loop, target: target)
    var status: Int?
    connection.send(target.request("GET", "/")) { status = $0.status }
    loop.run(until: monotonicSeconds() + 20, while: { status == nil })
    #expect(status == 0)
  }
}
