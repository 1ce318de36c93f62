import Glibc
import HTTPServer
import JSON
import MatrixModel
import Testing

@testable import ServerMedia

/// Content that comes in parts, and goes on where a connection was lost. Capability `martlet.resumable`.
@Suite struct ResumableUploadTests {
  private struct Cut: Error {}

  /// Where the next part begins, as an answer says.
  private struct Told: Equatable {
    var status = 200
    var code: String?
    var offset: Int64?
    var isComplete: Bool?
  }

  private static let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  private func told(_ status: Int, _ json: JSON) -> Told {
    Told(
      status: status, code: json["errcode"]?.string, offset: json["offset"]?.integer, isComplete: json["complete"]?.bool)
  }

  private func create(_ fixture: APIFixture, _ user: APIFixture.User) async throws -> MediaURI {
    let answer = try await fixture.call(.post, "/_matrix/media/v1/create", as: user)
    return try #require(MediaURI(answer.json["content_uri"]))
  }

  private func path(_ uri: MediaURI) -> String { "/_matrix/media/v3/upload/\(uri.serverName)/\(uri.mediaID)?filename=a.bin" }

  private func progressPath(_ uri: MediaURI) -> String {
    "/_matrix/client/unstable/martlet.resumable/\(uri.serverName)/\(uri.mediaID)"
  }

  private func put(
    _ fixture: APIFixture, _ user: APIFixture.User, _ uri: MediaURI, _ range: String, _ bytes: some Sequence<UInt8>
  ) async throws -> Told {
    let answer = try await fixture.raw(
      .put, path(uri), token: user.token, headers: [("Content-Type", "application/x-test"), ("Content-Range", range)],
      body: Array(bytes))
    return try told(answer.status, JSON.parse(answer.body))
  }

  private func progress(_ fixture: APIFixture, _ user: APIFixture.User, _ uri: MediaURI) async throws -> Told {
    let answer = try await fixture.call(.get, progressPath(uri), as: user)
    return told(answer.status, answer.json)
  }

  private func download(_ fixture: APIFixture, _ user: APIFixture.User, _ uri: MediaURI) async throws -> [UInt8] {
    try await fixture.raw(
      .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)?timeout_ms=0", token: user.token
    ).body
  }

  /// Sends from `start` on over a connection that is lost after `count` bytes.
  private func sendCut(_ fixture: APIFixture, _ user: APIFixture.User, _ uri: MediaURI, from start: Int, count: Int)
    async throws
  {
    var pieces = stride(from: start, to: start + count, by: 50).map { Array(Self.content[$0..<min($0 + 50, start + count)]) }[
      ...]
    await #expect(throws: Cut.self) {
      _ = try await fixture.homeserver.media.upload(
        Int64(start)..<1_000, of: 1_000, try MediaUpload(contentType: "a/b", fileName: nil, announcedBytes: nil),
        to: uri.serverName.text, uri.mediaID, by: user.userID
      ) {
        guard let piece = pieces.popFirst() else { throw Cut() }
        return piece
      }
    }
  }

  private func partials(_ fixture: APIFixture) -> [String] { fixture.homeserver.media.folder.partials() }

  @Test func `content comes in parts, and is served when the last one is there`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let uri = try await create(fixture, ann)
      #expect(try await progress(fixture, ann, uri) == Told(offset: 0, isComplete: false))
      #expect(
        try await put(fixture, ann, uri, "bytes 0-399/1000", Self.content[..<400]) == Told(offset: 400, isComplete: false))
      #expect(
        try await fixture.call(
          .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)?timeout_ms=0", as: bob
        ).errorCode == "M_NOT_YET_UPLOADED")
      #expect(
        try await put(fixture, ann, uri, "bytes 400-999/1000", Self.content[400...]) == Told(offset: 1_000, isComplete: true))
      let got = try await fixture.raw(
        .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)", token: bob.token)
      #expect(got.body == Self.content && got.headers["Content-Type"] == "application/x-test")
      #expect(got.headers["Content-Disposition"] == "attachment; filename*=utf-8''a.bin")
      // A client that missed the answer asks.
      #expect(try await progress(fixture, ann, uri) == Told(offset: 1_000, isComplete: true))
      #expect(try await put(fixture, ann, uri, "bytes 0-0/1", [1]).code == "M_CANNOT_OVERWRITE_MEDIA")
      #expect(partials(fixture).isEmpty)
      let usage = try await fixture.homeserver.mediaModeration.usage(of: ann.userID)
      #expect(usage.items == 1 && usage.bytes == 1_000)
    }
  }

  // Proves P15
  @Test func `an upload goes on where its connection was lost`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      try await sendCut(fixture, ann, uri, from: 0, count: 330)
      #expect(try await progress(fixture, ann, uri) == Told(offset: 330, isComplete: false))
      try await sendCut(fixture, ann, uri, from: 330, count: 670)
      // All of it has come, but nobody heard.
      #expect(try await progress(fixture, ann, uri) == Told(offset: 1_000, isComplete: false))
      #expect(try await put(fixture, ann, uri, "bytes */1000", []) == Told(offset: 1_000, isComplete: true))
      #expect(try await download(fixture, ann, uri) == Self.content)
    }
  }

  // Proves P15
  @Test func `an upload goes on after a restart of the server`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      try await sendCut(fixture, ann, uri, from: 0, count: 500)
      await fixture.homeserver.shutdown()
      let configuration = fixture.homeserver.configuration
      let next = try APIFixture { $0 = configuration }
      #expect(try await progress(next, ann, uri) == Told(offset: 500, isComplete: false))
      #expect(
        try await put(next, ann, uri, "bytes 500-999/1000", Self.content[500...]) == Told(offset: 1_000, isComplete: true))
      #expect(try await download(next, ann, uri) == Self.content)
      await next.homeserver.shutdown()
    }
  }

  @Test func `a part that begins elsewhere is told where to begin`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      let wrong = Told(status: 409, code: "MARTLET_WRONG_OFFSET", offset: 0)
      #expect(try await put(fixture, ann, uri, "bytes 400-999/1000", Self.content[400...]) == wrong)
      #expect(try await put(fixture, ann, uri, "bytes */1000", []) == wrong)
      _ = try await put(fixture, ann, uri, "bytes 0-399/1000", Self.content[..<400])
      for start in [0, 399, 401] {
        let answer = try await put(fixture, ann, uri, "bytes \(start)-999/1000", Self.content[start...])
        #expect(answer == Told(status: 409, code: "MARTLET_WRONG_OFFSET", offset: 400))
      }
    }
  }

  @Test(arguments: [
    "bytes", "bytes 0-9", "bytes 0-9/*", "bytes 0-10/10", "bytes 9-0/10", "bytes -9/10", "lines 0-9/10",
    "bytes 0-9/99999999999999999999",
    // Of these the body says otherwise.
    "bytes 0-8/10", "bytes */10"
  ])
  func `a range that the body does not have is refused`(range: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      let answer = try await put(fixture, ann, uri, range, Self.content[..<10])
      #expect(answer.status == 400 && answer.code == "M_INVALID_PARAM")
      #expect(try await progress(fixture, ann, uri).offset == 0)
    }
  }

  @Test func `a body that goes on behind its range is not taken`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      var pieces = [[1, 2, 3], [4, 5, 6] as [UInt8]][...]
      await #expect(throws: MatrixError.self) {
        _ = try await fixture.homeserver.media.upload(
          0..<5, of: 5, try MediaUpload(contentType: "a/b", fileName: nil, announcedBytes: nil), to: "example.org", uri.mediaID,
          by: ann.userID
        ) { pieces.popFirst() }
      }
      #expect(try await progress(fixture, ann, uri) == Told(offset: 3, isComplete: false))
    }
  }

  @Test func `only who created the ID may append, ask and take it back`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let uri = try await create(fixture, ann)
      _ = try await put(fixture, ann, uri, "bytes 0-399/1000", Self.content[..<400])
      #expect(try await put(fixture, bob, uri, "bytes 400-999/1000", Self.content[400...]).code == "M_FORBIDDEN")
      #expect(try await progress(fixture, bob, uri).code == "M_FORBIDDEN")
      #expect(try await fixture.call(.delete, progressPath(uri), as: bob).errorCode == "M_FORBIDDEN")
      #expect(try await progress(fixture, ann, uri).offset == 400)
      #expect(try await fixture.call(.delete, progressPath(uri), as: ann).status == 200)
      #expect(try await progress(fixture, ann, uri).code == "M_NOT_FOUND")
      #expect(partials(fixture).isEmpty)
      #expect(try await fixture.call(.get, "/_matrix/client/unstable/martlet.resumable/elsewhere.org/a", as: ann).status == 404)
    }
  }

  @Test func `what will be too large is refused with its first part`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.uploadBytesLimit = 999
    }) { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      #expect(try await put(fixture, ann, uri, "bytes 0-9/1000", Self.content[..<10]).code == "M_TOO_LARGE")
      #expect(partials(fixture).isEmpty)
    }
  }

  @Test func `what has come of other uploads counts against the quota`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.media.userQuotaBytes = 1_500
    }) { fixture in
      let ann = try await fixture.register("ann")
      let (first, second) = (try await create(fixture, ann), try await create(fixture, ann))
      _ = try await put(fixture, ann, first, "bytes 0-599/1000", Self.content[..<600])
      #expect(try await put(fixture, ann, second, "bytes 0-9/901", Self.content[..<10]).code == "M_FORBIDDEN")
      #expect(try await put(fixture, ann, second, "bytes 0-499/900", Self.content[..<500]).offset == 500)
      #expect(try await put(fixture, ann, first, "bytes 600-999/1000", Self.content[600...]).isComplete == true)
      #expect(try await put(fixture, ann, second, "bytes 500-899/900", Self.content[500..<900]).code == "M_FORBIDDEN")
      #expect(try await fixture.call(.delete, progressPath(second), as: ann).status == 200)
    }
  }

  @Test func `what has come of uploads counts against the quota of content that comes as a whole, little or much`() async throws
  {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.media.userQuotaBytes = 300_000
    }) { fixture in
      let ann = try await fixture.register("ann")
      let (parts, whole) = (try await create(fixture, ann), try await create(fixture, ann))
      _ = try await put(fixture, ann, parts, "bytes 0-199999/300000", [UInt8](repeating: 1, count: 200_000))
      for count in [100_001, 200_000] {
        let body = [UInt8](repeating: 2, count: count)
        #expect(try await fixture.raw(.post, "/_matrix/media/v3/upload", token: ann.token, body: body).status == 403)
        #expect(try await fixture.raw(.put, path(whole), token: ann.token, body: body).status == 403)
      }
      for isLeft in [true, true, false] {
        let body = [UInt8](repeating: 3, count: 40_000)
        let answer = try await fixture.raw(.post, "/_matrix/media/v3/upload", token: ann.token, body: body)
        #expect(answer.status == (isLeft ? 200 : 403))
      }
      #expect(try await fixture.call(.delete, progressPath(parts), as: ann).status == 200)
      let body = [UInt8](repeating: 4, count: 100_001)
      #expect(try await fixture.raw(.put, path(whole), token: ann.token, body: body).status == 200)
    }
  }

  @Test func `content that comes as a whole takes the place of its parts, of which nothing stays`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      _ = try await put(fixture, ann, uri, "bytes 0-998/1000", Self.content[..<999])
      #expect(try await fixture.raw(.put, path(uri), token: ann.token, body: [1, 2, 3]).status == 200)
      #expect(partials(fixture).isEmpty)
      #expect(try await download(fixture, ann, uri) == [1, 2, 3])
      #expect(try await progress(fixture, ann, uri) == Told(offset: 3, isComplete: true))
      // Also of a part that has begun before, and comes only now.
      let late = try await create(fixture, ann)
      func meanwhile() async throws {
        #expect(try await progress(fixture, ann, late).offset == 100)
        #expect(try await fixture.raw(.put, path(late), token: ann.token, body: [1]).status == 200)
      }
      var pieces = 0
      await #expect(throws: MatrixError.self) {
        _ = try await fixture.homeserver.media.upload(
          0..<1_000, of: 1_000, try MediaUpload(contentType: "a/b", fileName: nil, announcedBytes: nil), to: "example.org",
          late.mediaID, by: ann.userID
        ) {
          pieces += 1
          if pieces == 1 { return Array(Self.content[..<100]) }
          try await meanwhile()
          return Array(Self.content[100...])
        }
      }
      #expect(partials(fixture).isEmpty)
      #expect(try await download(fixture, ann, late) == [1])
    }
  }

  @Test func `the server refuses a second part meanwhile; a request for the offset ends a hung upload`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let uri = try await create(fixture, ann)
      func meanwhile() async throws {
        #expect(try await put(fixture, ann, uri, "bytes 100-999/1000", Self.content[100...]).code == "M_CANNOT_OVERWRITE_MEDIA")
        #expect(try await progress(fixture, ann, uri).offset == 100)
        #expect(try await put(fixture, ann, uri, "bytes 100-199/1000", Self.content[100..<200]).offset == 200)
      }
      var pieces = 0
      await #expect(throws: MatrixError.self) {
        _ = try await fixture.homeserver.media.upload(
          0..<1_000, of: 1_000, try MediaUpload(contentType: "a/b", fileName: nil, announcedBytes: nil), to: "example.org",
          uri.mediaID, by: ann.userID
        ) {
          pieces += 1
          if pieces == 1 { return Array(Self.content[..<100]) }
          try await meanwhile()
          return Array(Self.content[100...])
        }
      }
      #expect(try await progress(fixture, ann, uri) == Told(offset: 200, isComplete: false))
    }
  }

  @Test func `what has come is thrown away with its ID`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let media = fixture.homeserver.media
      let uri = try await create(fixture, ann)
      _ = try await put(fixture, ann, uri, "bytes 0-399/1000", Self.content[..<400])
      try await media.sweepParts()
      #expect(partials(fixture) == [uri.mediaID.string])
      fixture.advance(milliseconds: PendingUploads.lifeMilliseconds)
      #expect(try await put(fixture, ann, uri, "bytes 400-999/1000", Self.content[400...]).code == "M_NOT_FOUND")
      #expect(try await progress(fixture, ann, uri).code == "M_NOT_FOUND")
      try await media.pending.sweep()
      try await media.sweepParts()
      #expect(partials(fixture).isEmpty)
    }
  }

  @Test func `content that is here already is kept once, and a part of many pieces is hashed as a whole`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let large = [UInt8](repeating: 3, count: 9 << 20)
      let sent = try await fixture.raw(.post, "/_matrix/media/v3/upload", token: ann.token, body: large)
      let whole = try #require(MediaURI(JSON.parse(sent.body)["content_uri"]))
      let uri = try await create(fixture, ann)
      _ = try await put(fixture, ann, uri, "bytes 0-99/\(large.count)", large[..<100])
      #expect(try await put(fixture, ann, uri, "bytes 100-\(large.count - 1)/\(large.count)", large[100...]).isComplete == true)
      let media = fixture.homeserver.media
      let first = try await media.item("example.org", whole.mediaID, for: .user(ann.userID))
      #expect(try await media.item("example.org", uri.mediaID, for: .user(ann.userID)).hash == first.hash)
      #expect(partials(fixture).isEmpty)
    }
  }

  @Test func `the server says that it takes parts`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let capabilities = try await fixture.call(.get, "capabilities", as: ann)
      #expect(capabilities.json["capabilities"]?["martlet.resumable"]?["enabled"]?.bool == true)
    }
  }
}
