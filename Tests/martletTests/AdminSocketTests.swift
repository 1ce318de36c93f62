import EventLoop
import FilesTesting
import Glibc
import HTTPServer
import ServerAccounts
import Shell
import Testing

@testable import martlet

@Suite("Admin socket")
struct AdminSocketTests {
  private static func run(in folder: String, _ body: () async throws -> Void) async throws {
    let pool = try BlockingPool(threads: 2)
    var router = Router()
    let key = AccessToken.random()
    router.on(.post, "/echo", bodyLimit: OperatorCalls.callBytesLimit) { request in
      guard request.headers["Authorization"] == "Bearer \(key.text)" else { return Response(status: .forbidden) }
      return .json(try await request.body.collect(upTo: OperatorCalls.callBytesLimit))
    }
    let socket = try AdminSocket(in: folder, OperatorCalls(router: router, key: key), pool: pool)
    do { try await body() } catch {
      await socket.close()
      await pool.shutdown()
      throw error
    }
    await socket.close()
    await pool.shutdown()
  }

  /// On a thread of its own: the server's tasks need those of Swift's pool.
  private static func ask(_ bytes: [UInt8], in folder: String) async throws -> String? {
    let client = try BlockingPool(threads: 1)
    do {
      let answer = try await client.run { try exchange(bytes, in: folder) }
      await client.shutdown()
      return answer
    } catch {
      await client.shutdown()
      throw error
    }
  }

  private static func exchange(_ bytes: [UInt8], in folder: String) throws -> String? {
    let connection = try #require(try AdminSocket.address(in: folder).connect())
    defer { close(connection) }
    // Thousands of tests start at once: the tasks of this one have their turn when they have it.
    UnixSocket.limitWaits(connection, seconds: 500)
    UnixSocket.writeAll(connection, bytes)
    shutdown(connection, Int32(SHUT_WR))
    return UnixSocket.readAll(connection, limit: 4 << 20).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("A call is answered with the operator's token, also in a folder whose path is longer than an address can be")
  func answers() async throws {
    let folder = try TemporaryFolder()
    let long = folder.path + "/" + String(repeating: "d", count: 200)
    #expect(mkdir(long, 0o700) == 0)
    for path in [folder.path, long] {
      try await Self.run(in: path) {
        var status = stat()
        #expect(stat(path + "/admin.sock", &status) == 0 && status.st_mode & 0o777 == 0o600)
        let call = OperatorCalls.Call(.post, "/echo", Array(#"{"a":1}"#.utf8))
        let answer = try await Self.ask(call.bytes, in: path)
        #expect(answer == "200\n" + #"{"a":1}"#)
        #expect(try await Self.ask(OperatorCalls.Call(.get, "/none").bytes, in: path)?.hasPrefix("404\n") == true)
      }
      #expect(access(path + "/admin.sock", F_OK) != 0)
      #expect(try AdminSocket.address(in: path).connect() == nil)
    }
  }

  @Test("What is no call gets no answer, and the next one does")
  func nonsense() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    // Left by a process that was killed.
    close(try AdminSocket.address(in: path).listen())
    #expect(try AdminSocket.address(in: path).connect() == nil)
    try await Self.run(in: path) {
      let large = [UInt8](repeating: UInt8(ascii: "x"), count: OperatorCalls.callBytesLimit + 1)
      for bytes in [
        [], Array("{}".utf8), Array(#"{"method":"BREW","target":"/"}"#.utf8), Array(#"{"method":"GET","target":"x"}"#.utf8)
      ] {
        let answer = try await Self.ask(bytes, in: path)
        #expect(answer == "")
      }
      _ = try? await Self.ask(large, in: path)
      let call = OperatorCalls.Call(.post, "/echo", Array("{}".utf8))
      let answer = try await Self.ask(call.bytes, in: path)
      #expect(answer == "200\n{}")
    }
    withExtendedLifetime(folder) {}
  }

  @Test("What users wrote cannot command the terminal")
  func table() {
    let text = Table(["A", "NAME"], [["x", "red\u{1B}[31m\u{9B}2J\u{202E}\n"], ["longer", "-"]]).text
    #expect(text == "A       NAME\nx       red\u{FFFD}[31m\u{FFFD}2J\u{FFFD}\u{FFFD}\nlonger  -\n")
    #expect(Table.harmless("Zoë 日本 👍") == "Zoë 日本 👍")
  }
}
