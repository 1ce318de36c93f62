import EventLoop
import Glibc
import HTTPServer
import Homeserver
import JSON
import MatrixModel
import Telemetry
import Testing

@testable import HomeserverAPI

/// Uploads and downloads through the router, with files on a real disk.
@Suite struct MediaTests {
  /// Bytes that claim to be a picture; no download looks into them.
  private static let content = [UInt8]((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  private func upload(
    _ fixture: APIFixture, _ user: APIFixture.User, _ bytes: [UInt8], type: String = "image/png", name: String? = nil
  ) async throws -> (status: Int, path: String) {
    let query = name.map { "?filename=\($0)" } ?? ""
    let answer = try await fixture.raw(
      .post, "/_matrix/media/v3/upload\(query)", token: user.token, headers: [("Content-Type", type)], body: bytes)
    guard answer.status == 200, let uri = MediaURI(try JSON.parse(answer.body)["content_uri"]) else {
      return (answer.status, "")
    }
    return (200, "\(uri.serverName)/\(uri.mediaID)")
  }

  @Test func `what is uploaded comes back, whole and in part`() async throws {
    try await APIFixture.run { fixture in
      let user = try await fixture.register("ann")
      let (status, path) = try await upload(fixture, user, Self.content, name: "a%20b.png")
      #expect(status == 200)
      let url = "/_matrix/client/v1/media/download/\(path)"
      let whole = try await fixture.raw(.get, url, token: user.token)
      #expect(whole.body == Self.content)
      #expect(whole.headers["Content-Type"] == "image/png")
      #expect(whole.headers["Content-Disposition"] == "inline; filename*=utf-8''a%20b.png")
      #expect(whole.headers["Content-Security-Policy"]?.hasPrefix("sandbox") == true)
      let part = try await fixture.raw(.get, url, token: user.token, headers: [("Range", "bytes=99990-")])
      #expect(part.status == 206 && part.body == Array(Self.content[99_990...]))
      let renamed = try await fixture.raw(.get, url + "/other.txt", token: user.token)
      #expect(renamed.headers["Content-Disposition"] == "inline; filename*=utf-8''other.txt")
    }
  }

  @Test(arguments: ["text/html", "image/svg+xml", "application/javascript", "application/pdf", "IMAGE/SVG+XML; x=1"])
  func `what a browser could run is for saving only`(type: String) async throws {
    try await APIFixture.run { fixture in
      let user = try await fixture.register("ann")
      let (_, path) = try await upload(fixture, user, Self.content, type: type)
      let answer = try await fixture.raw(.get, "/_matrix/client/v1/media/download/\(path)", token: user.token)
      #expect(answer.headers["Content-Disposition"] == "attachment")
      #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
    }
  }

  @Test func `the size limit holds on both sides and leaves nothing behind`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.uploadBytesLimit = 1_000
    }) { fixture in
      let user = try await fixture.register("ann")
      #expect(try await upload(fixture, user, [UInt8](repeating: 1, count: 1_000)).status == 200)
      #expect(try await upload(fixture, user, [UInt8](repeating: 1, count: 1_001)).status == 413)
      let incoming = fixture.homeserver.configuration.dataDirectory + "/media/incoming"
      #expect(rmdir(incoming) == 0, "an unfinished upload was left")
      mkdir(incoming, 0o700)
    }
  }

  @Test func `the same content is kept once under two names`() async throws {
    try await APIFixture.run { fixture in
      let user = try await fixture.register("ann")
      let first = try await upload(fixture, user, Self.content, name: "a")
      let second = try await upload(fixture, user, Self.content, name: "b")
      #expect(first.path != second.path)
      let server = ByteString("example.org")
      func hash(_ path: String) async throws -> String {
        try await fixture.homeserver.media.item(
          server, ByteString(String(path.split(separator: "/")[1])), for: .user(user.userID)
        ).hash
      }
      #expect(try await hash(first.path) == hash(second.path))
    }
  }

  @Test func `without a program for thumbnails a small picture stands for its own`() async throws {
    try await APIFixture.run { fixture in
      let user = try await fixture.register("ann")
      let small = [UInt8](repeating: 1, count: 1 << 20)
      for (bytes, type, status) in [(small, "image/png", 200), (small + [1], "image/png", 400), (small, "image/svg+xml", 400)] {
        let (_, path) = try await upload(fixture, user, bytes, type: type)
        let answer = try await fixture.raw(
          .get, "/_matrix/client/v1/media/thumbnail/\(path)?width=96&height=96&method=crop", token: user.token)
        #expect(answer.status == status && (status != 200 || answer.body == bytes))
      }
    }
  }

  @Test func `unknown and foreign content is not found, and nobody reads without a token`() async throws {
    try await APIFixture.run { fixture in
      let user = try await fixture.register("ann")
      let (_, path) = try await upload(fixture, user, Self.content)
      for target in ["example.org/nothing", "elsewhere.org/abc", "example.org/..%2F..%2Fmartlet.db"] {
        #expect(try await fixture.raw(.get, "/_matrix/client/v1/media/download/\(target)", token: user.token).status == 404)
      }
      #expect(try await fixture.raw(.get, "/_matrix/client/v1/media/download/\(path)", token: nil).status == 401)
      let noThumbnail = try await fixture.raw(
        .get, "/_matrix/client/v1/media/thumbnail/\(path)?width=0&height=10", token: user.token)
      #expect(noThumbnail.status == 400)
    }
  }
}

extension APIFixture {
  struct RawAnswer: Sendable {
    let status: Int
    let headers: ResponseHeaders
    let body: [UInt8]
  }

  /// A request whose body or answer is not JSON.
  func raw(
    _ method: HTTPMethod, _ target: String, token: String?, headers: [(String, String)] = [], body: [UInt8] = []
  ) async throws -> RawAnswer {
    var fields = headers.map { (name: $0.0, value: $0.1) }
    if let token { fields.append((name: "Authorization", value: "Bearer \(token)")) }
    let response = await router.respond(to: Request(method, target, headers: fields, body: body))
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let whole): bytes = whole
    case .parts(let parts): bytes = parts.flatMap { $0 }
    case .file(let file, let range):
      bytes = file.read(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound)) ?? []
    default: break
    }
    AnswerRecord.shared?.add(method, target, request: nil, response: response, answer: bytes)
    return RawAnswer(status: Int(response.status.code), headers: response.headers, body: bytes)
  }
}
