import EventLoop
import JSON
import MatrixModel
import Testing

@testable import ServerMedia

/// Media IDs that are given out before their content comes, and who may fill them.
@Suite struct MediaUploadTests {
  private static let authed = "/_matrix/client/v1/media/download/"
  private static let frozen = "/_matrix/media/v3/download/"

  private func create(_ fixture: APIFixture, _ user: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(.post, "/_matrix/media/v1/create", as: user)
    #expect(answer.status == 200)
    let uri = try #require(MediaURI(answer.json["content_uri"]))
    return "\(uri.serverName)/\(uri.mediaID)"
  }

  private func put(_ fixture: APIFixture, _ user: APIFixture.User, _ path: String, _ content: String = "content") async throws
    -> (status: Int, code: String?)
  {
    let answer = try await fixture.raw(
      .put, "/_matrix/media/v3/upload/\(path)?filename=a.txt", token: user.token, headers: [("Content-Type", "text/plain")],
      body: Array(content.utf8))
    return (answer.status, try JSON.parse(answer.body)["errcode"]?.string)
  }

  @Test func `an ID is given out, filled once by its creator, and then served`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let answer = try await fixture.call(.post, "/_matrix/media/v1/create", as: ann)
      #expect(answer.json["unused_expires_at"]?.integer == 1_700_000_000_000 + PendingUploads.lifeMilliseconds)
      let path = try await create(fixture, ann)
      let early = try await fixture.call(.get, Self.authed + path + "?timeout_ms=0", as: bob)
      #expect(early.status == 504 && early.errorCode == "M_NOT_YET_UPLOADED")
      let earlyThumbnail = try await fixture.call(
        .get, "/_matrix/client/v1/media/thumbnail/\(path)?width=32&height=32&timeout_ms=0", as: bob)
      #expect(earlyThumbnail.errorCode == "M_NOT_YET_UPLOADED")
      #expect(try await put(fixture, bob, path) == (403, "M_FORBIDDEN"))
      #expect(try await put(fixture, ann, path) == (200, nil))
      let download = try await fixture.raw(.get, Self.authed + path, token: bob.token)
      #expect(download.status == 200 && download.body == Array("content".utf8))
      #expect(download.headers["Content-Disposition"] == "inline; filename*=utf-8''a.txt")
      #expect(try await put(fixture, ann, path, "other") == (409, "M_CANNOT_OVERWRITE_MEDIA"))
      #expect(try await fixture.raw(.get, Self.authed + path, token: bob.token).body == Array("content".utf8))
    }
  }

  @Test func `an ID that nobody was given, or that has expired, is not found`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await put(fixture, ann, "example.org/nothing") == (404, "M_NOT_FOUND"))
      #expect(try await put(fixture, ann, "elsewhere.org/nothing") == (404, "M_NOT_FOUND"))
      let path = try await create(fixture, ann)
      let other = try await create(fixture, ann)
      fixture.advance(milliseconds: PendingUploads.lifeMilliseconds - 1)
      #expect(try await put(fixture, ann, path) == (200, nil))
      fixture.advance(milliseconds: 1)
      #expect(try await put(fixture, ann, other) == (404, "M_NOT_FOUND"))
      #expect(try await fixture.call(.get, Self.authed + other, as: ann).errorCode == "M_NOT_FOUND")
      // The next one sweeps it.
      _ = try await create(fixture, ann)
      let left = try await fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM media_pending") { $0.integer(0) }
      }
      #expect(left == 1)
    }
  }

  @Test func `a user has twenty IDs without content, and new ones as they are filled or expire`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      var last = ""
      for _ in 0..<PendingUploads.userLimit { last = try await create(fixture, ann) }
      let refused = try await fixture.call(.post, "/_matrix/media/v1/create", as: ann)
      #expect(refused.status == 429 && refused.errorCode == "M_LIMIT_EXCEEDED")
      #expect(refused.json["retry_after_ms"]?.integer == PendingUploads.lifeMilliseconds)
      _ = try await create(fixture, fixture.register("bob"))
      #expect(try await put(fixture, ann, last).status == 200)
      _ = try await create(fixture, ann)
      fixture.advance(milliseconds: PendingUploads.lifeMilliseconds)
      _ = try await create(fixture, ann)
    }
  }

  @Test func `who asks before the content is there gets it when it comes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let path = try await create(fixture, ann)
      let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for _ in 0..<5 {
          group.addTask { try await fixture.raw(.get, Self.authed + path + "?timeout_ms=60000", token: bob.token).body }
        }
        group.addTask {
          let answer = try await self.put(fixture, ann, path)
          #expect(answer.status == 200)
          return Array("content".utf8)
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(bodies.count == 6 && bodies.allSatisfy { $0 == Array("content".utf8) })
    }
  }

  @Test func `the server refuses one of two simultaneous uploads to the same ID`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = try await create(fixture, ann)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<8 { group.addTask { try await self.put(fixture, ann, path, "content \(number)").status } }
        return try await group.reduce(into: []) { $0.append($1) }.sorted()
      }
      #expect(statuses == [200] + Array(repeating: 409, count: 7))
    }
  }

  @Test func `an upload that is refused leaves its ID free`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.uploadBytesLimit = 10
    }) { fixture in
      let ann = try await fixture.register("ann")
      let path = try await create(fixture, ann)
      #expect(try await put(fixture, ann, path, "12345678901") == (413, "M_TOO_LARGE"))
      #expect(try await put(fixture, ann, path, "1234567890") == (200, nil))
    }
  }

  @Test func `a user's files together have a quota`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.media.userQuotaBytes = 20
    }) { fixture in
      let ann = try await fixture.register("ann")
      func upload(_ user: APIFixture.User, _ count: Int) async throws -> (Int, String?) {
        let answer = try await fixture.raw(
          .post, "/_matrix/media/v3/upload", token: user.token, body: [UInt8](repeating: 7, count: count))
        return (answer.status, try JSON.parse(answer.body)["errcode"]?.string)
      }
      #expect(try await upload(ann, 15) == (200, nil))
      #expect(try await upload(ann, 6) == (403, "M_FORBIDDEN"))
      #expect(try await upload(ann, 5) == (200, nil))
      #expect(try await upload(ann, 1) == (403, "M_FORBIDDEN"))
      let usage = try await fixture.homeserver.mediaModeration.usage(of: ann.userID)
      #expect(usage.items == 2 && usage.bytes == 20)
      #expect(try await upload(fixture.register("bob"), 20) == (200, nil))
    }
  }

  @Test func `an upload that drips is given up, one that is only slow is not`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let media = fixture.homeserver.media
      for (milliseconds, succeeds) in [(Int64(20_000), true), (20_001, false)] {
        let upload = try MediaUpload(contentType: "text/plain", fileName: nil, announcedBytes: nil)
        var pieces = 0
        func send() async throws -> MediaURI {
          try await media.upload(upload, by: ann.userID) {
            pieces += 1
            fixture.advance(milliseconds: milliseconds)
            return pieces <= 3 ? [1] : nil
          }
        }
        // Three pieces in a minute are just in time.
        if succeeds { _ = try await send() } else { await #expect(throws: MatrixError.self) { try await send() } }
      }
    }
  }

  @Test func `without a token only what came before the freeze is served`() async throws {
    for isOpen in [false, true] {
      try await APIFixture.run(configure: {
        $0.registration = .open
        $0.media.allowsUnauthenticatedDownloads = isOpen
      }) { fixture in
        let ann = try await fixture.register("ann")
        let path = try await create(fixture, ann)
        #expect(try await put(fixture, ann, path).status == 200)
        for suffix in ["", "/name.txt", "?allow_remote=false&allow_redirect=true&timeout_ms=0"] {
          let answer = try await fixture.raw(.get, Self.frozen + path + suffix, token: nil)
          #expect(answer.status == (isOpen ? 200 : 404))
          if isOpen { #expect(answer.body == Array("content".utf8)) }
        }
        let thumbnail = try await fixture.raw(
          .get, "/_matrix/media/v3/thumbnail/\(path)?width=32&height=32", token: nil)
        #expect(thumbnail.status == (isOpen ? 400 : 404))
        #expect(try await fixture.raw(.get, Self.authed + path, token: ann.token).status == 200)
      }
    }
  }

  @Test(arguments: [false, true], ["download/%", "download/%/name.txt", "thumbnail/%?width=32&height=32"])
  func `the frozen addresses wait for announced content, then say that it has not come`(
    isOpen: Bool, path: String
  ) async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.media.allowsUnauthenticatedDownloads = isOpen
    }) { fixture in
      let ann = try await fixture.register("ann")
      let parts = path.split(separator: "%")
      let pending = try await create(fixture, ann)
      let target = "/_matrix/media/v3/\(parts[0])\(pending)\(parts.dropFirst().joined())"
      let began = EventLoop.nowNanoseconds
      let early = try await fixture.call(.get, target + (target.contains("?") ? "&" : "?") + "timeout_ms=100")
      #expect(early.status == 504 && early.errorCode == "M_NOT_YET_UPLOADED")
      #expect(EventLoop.nowNanoseconds - began >= 100_000_000)
      #expect(try await put(fixture, ann, pending).status == 200)
      let late = try await fixture.raw(.get, target, token: nil)
      #expect(late.status == (!isOpen ? 404 : path.hasPrefix("download") ? 200 : 400))
      let unknown = target.replacing(pending, with: "example.org/nobodygaveout")
      #expect(try await fixture.call(.get, unknown).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `both addresses of the configuration say how large a file may be`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for path in ["/_matrix/client/v1/media/config", "/_matrix/media/v3/config"] {
        let answer = try await fixture.call(.get, path, as: ann)
        #expect(answer.json["m.upload.size"]?.integer == fixture.homeserver.media.uploadBytesLimit)
      }
    }
  }

  @Test(arguments: ["text/plain\u{7F}", "text/\u{E4}", String(repeating: "a", count: 256)])
  func `a content type that no header could carry is refused`(type: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.raw(
        .post, "/_matrix/media/v3/upload", token: ann.token, headers: [("Content-Type", type)], body: [1])
      #expect(answer.status == 400)
    }
  }

  @Test func `a file name cannot break out of its header`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let name = "a%0D%0ASet-Cookie%3A%20x%22%3B%20b%C3%A4"
      let answer = try await fixture.raw(
        .post, "/_matrix/media/v3/upload?filename=\(name)", token: ann.token, headers: [("Content-Type", "text/plain")],
        body: [1])
      let uri = try #require(MediaURI(JSON.parse(answer.body)["content_uri"]))
      let download = try await fixture.raw(.get, "\(Self.authed)\(uri.serverName)/\(uri.mediaID)", token: ann.token)
      #expect(download.headers["Content-Disposition"] == "inline; filename*=utf-8''\(name)")
    }
  }
}
