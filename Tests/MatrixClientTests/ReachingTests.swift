import Glibc
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

/// What one-shot programs do: one sync, a file.
@Suite("Reaching the server")
struct ReachingTests {
  private func client(at server: FixtureServer, token: String = "T") async throws -> MatrixClient {
    let session = Session(
      userID: UserID(trusted: "@me:test"), deviceID: DeviceID(trusted: "D"), accessToken: ByteString(token),
      homeserver: ServerURL(server.url))
    return try await MatrixClient.restore(session)
  }

  @Test("Waiting for the sync ends with the first sync or its error")
  func sync() async throws {
    let answers = Mutex((status: 200, body: #"{"next_batch":"s"}"#))
    let server = FixtureServer { _ in answers.withLock { $0 } }
    defer { server.stop() }
    let good = try await client(at: server)
    try await good.waitForSync()
    guard case .running = await good.connectionState else {
      Issue.record("it does not run")
      return
    }
    await good.stop()
    for (status, body, isNetwork) in [(503, "", true), (401, #"{"errcode":"M_UNKNOWN_TOKEN","error":""}"#, false)] {
      answers.withLock { $0 = (status, body) }
      let bad = try await client(at: server)
      do throws(ClientError) {
        try await bad.waitForSync()
        Issue.record("no error for \(status)")
      } catch {
        switch error {
        case .network: #expect(isNetwork)
        case .notSignedIn: #expect(!isNetwork)
        default: Issue.record("\(error)")
        }
      }
      await bad.stop()
    }
  }

  @Test("A download is a file once it is whole; what the server refuses leaves none; where it wants one to wait, one waits")
  func download() async throws {
    let asked = Mutex(0)
    let server = FixtureServer { request in
      guard request.target.contains("/media/download/") else { return (200, #"{"next_batch":"s"}"#) }
      guard request.headers.contains("Authorization: Bearer T") else { return (401, #"{"errcode":"M_MISSING_TOKEN"}"#) }
      if request.target.hasSuffix("gone") { return (404, #"{"errcode":"M_NOT_FOUND","error":"gone"}"#) }
      let count = asked.withLock { count in
        count += 1
        return count
      }
      return count == 1 ? (429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"","retry_after_ms":1}"#) : (200, "bytes")
    }
    defer { server.stop() }
    let client = try await client(at: server)
    let path = "/tmp/martlet-download-\(server.port)"
    defer { unlink(path) }
    try await client.download(MediaURI(trusted: "mxc://test/here"), to: path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_size == 5)
    #expect(asked.withLock { $0 } == 2)
    unlink(path)
    do throws(ClientError) {
      try await client.download(MediaURI(trusted: "mxc://test/gone"), to: path)
      Issue.record("no error")
    } catch {
      guard case .refused(404, .notFound, let message, _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(message == "gone")
    }
    #expect(access(path, F_OK) != 0 && access(path + ".part", F_OK) != 0)
    await client.stop()
  }
}
