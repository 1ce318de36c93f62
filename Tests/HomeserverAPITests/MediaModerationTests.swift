import Glibc
import JSON
import MatrixModel
import Testing

@testable import ServerMedia

/// What administrators do with content.
@Suite struct MediaModerationTests {
  private static let admin = UserID(trusted: "@admin:example.org")

  private func upload(_ fixture: APIFixture, _ user: APIFixture.User, _ content: String) async throws -> ByteString {
    let answer = try await fixture.raw(
      .post, "/_matrix/media/v3/upload", token: user.token, headers: [("Content-Type", "text/plain")],
      body: Array(content.utf8))
    return try #require(MediaURI(JSON.parse(answer.body)["content_uri"])).mediaID
  }

  private func status(_ fixture: APIFixture, _ user: APIFixture.User, _ mediaID: ByteString) async throws -> Int {
    try await fixture.raw(.get, "/_matrix/client/v1/media/download/example.org/\(mediaID)", token: user.token).status
  }

  private func isFile(_ fixture: APIFixture, _ record: MediaRecord) -> Bool {
    let folder = fixture.homeserver.configuration.dataDirectory + "/media"
    return access("\(folder)/\(record.hash.prefix(2))/\(record.hash)", R_OK) == 0
  }

  @Test func `a file goes with the last ID that names it, and not before`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let moderation = fixture.homeserver.mediaModeration
      let first = try await upload(fixture, ann, "same")
      let second = try await upload(fixture, bob, "same")
      let record = try await moderation.record(first)
      let other = try await moderation.record(second)
      #expect(record.hash == other.hash)
      try await moderation.delete(first)
      #expect(try await status(fixture, ann, first) == 404)
      #expect(try await status(fixture, ann, second) == 200)
      #expect(isFile(fixture, record))
      try await moderation.delete(second)
      #expect(!isFile(fixture, record))
      await #expect(throws: MatrixError.self) { try await moderation.delete(second) }
      #expect(try await moderation.usage(of: ann.userID).bytes == 0)
      let again = try await upload(fixture, ann, "same")
      #expect(try await status(fixture, ann, again) == 200)
    }
  }

  @Test func `a file that no ID names goes also when the task that noticed is cancelled`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let record = try await fixture.homeserver.mediaModeration.record(try await upload(fixture, ann, "gone"))
      // As a client leaves it that hangs up before the row of its upload is written.
      _ = try await fixture.homeserver.database.write { tx in
        try tx.execute("DELETE FROM media WHERE media_id = $1", record.mediaID)
      }
      #expect(isFile(fixture, record))
      let media = fixture.homeserver.media
      try await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await media.store.removeIfUnused(record.hash)
      }.value
      #expect(!isFile(fixture, record))
    }
  }

  @Test func `uploads and deletions of the same content at once leave every ID with its file`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let moderation = fixture.homeserver.mediaModeration
      let left: [ByteString] = try await withThrowingTaskGroup(of: ByteString?.self) { group in
        for number in 0..<60 {
          group.addTask {
            let mediaID = try await self.upload(fixture, ann, "same")
            if number % 3 == 0 { return mediaID }
            try await moderation.delete(mediaID)
            return nil
          }
        }
        return try await group.reduce(into: []) { ids, mediaID in if let mediaID { ids.append(mediaID) } }
      }
      for mediaID in left { #expect(try await status(fixture, ann, mediaID) == 200) }
      let statistics = try await moderation.statistics()
      #expect(statistics.items == 20 && statistics.files == 1)
    }
  }

  @Test func `withdrawn content is not served under any ID, old or new, until it is given back`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let moderation = fixture.homeserver.mediaModeration
      let (bad, same, good) = (
        try await upload(fixture, ann, "bad"), try await upload(fixture, ann, "bad"), try await upload(fixture, ann, "good")
      )
      #expect(try await moderation.quarantine(bad, by: Self.admin) == 2)
      let again = try await upload(fixture, ann, "bad")
      for mediaID in [bad, same, again] { #expect(try await status(fixture, ann, mediaID) == 404) }
      #expect(try await status(fixture, ann, good) == 200)
      #expect(try await moderation.record(again).quarantinedBy == Self.admin.string)
      #expect(try await moderation.unquarantine(same) == 3)
      for mediaID in [bad, same, again] { #expect(try await status(fixture, ann, mediaID) == 200) }
    }
  }

  @Test func `all of a user's content is withdrawn, listed or deleted, but not that of others`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let moderation = fixture.homeserver.mediaModeration
      var own: [ByteString] = []
      for number in 0..<5 {
        own.append(try await upload(fixture, ann, "\(number)"))
        fixture.advance(milliseconds: 1)
      }
      let other = try await upload(fixture, bob, "other")
      try await moderation.protect(own[0])
      #expect(try await moderation.quarantine(allOf: ann.userID, by: Self.admin) == 4)
      #expect(try await status(fixture, ann, own[0]) == 200)
      #expect(try await status(fixture, ann, own[1]) == 404)
      #expect(try await status(fixture, ann, other) == 200)

      var listed: [ByteString] = []
      var position: MediaRecord.Position?
      repeat {
        let page = try await moderation.list(user: ann.userID, after: position, limit: 2)
        #expect(page.records.count <= 2)
        listed += page.records.map(\.mediaID)
        // A token survives its way through a client.
        position = try page.next.map { try #require(MediaRecord.Position(ByteString($0.description))) }
      } while position != nil
      #expect(listed == own)
      #expect(try await moderation.list().records.count == 6)

      #expect(try await moderation.delete(allOf: ann.userID) == 5)
      #expect(try await moderation.list(user: ann.userID).records.isEmpty)
      #expect(try await status(fixture, ann, other) == 200)
      let statistics = try await moderation.statistics()
      #expect(statistics.items == 1 && statistics.bytes == 5 && statistics.files == 1 && statistics.quarantined == 0)
    }
  }

  @Test func `what is old and large is deleted, but neither protected content nor pictures in use`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let moderation = fixture.homeserver.mediaModeration
      let (small, old, protected, avatar, roomAvatar) = (
        try await upload(fixture, ann, "x"), try await upload(fixture, ann, "an old one"),
        try await upload(fixture, ann, "protected"), try await upload(fixture, ann, "an avatar"),
        try await upload(fixture, ann, "a room's avatar")
      )
      try await moderation.protect(protected)
      let profile = "profile/%40ann%3Aexample.org/avatar_url"
      #expect(
        try await fixture.call(.put, profile, as: ann, #"{"avatar_url":"mxc://example.org/\#(avatar)"}"#).status == 200)
      let state = #"{"type":"m.room.avatar","content":{"url":"mxc://example.org/\#(roomAvatar)"}}"#
      #expect(try await fixture.call(.post, "createRoom", as: ann, #"{"initial_state":[\#(state)]}"#).status == 200)
      fixture.advance(milliseconds: 10)
      let before = fixture.homeserver.configuration.clock.now()
      let new = try await upload(fixture, ann, "a new one")
      #expect(try await moderation.delete(before: before, largerThan: 1) == 1)
      #expect(try await status(fixture, ann, old) == 404)
      for mediaID in [small, protected, avatar, roomAvatar, new] { #expect(try await status(fixture, ann, mediaID) == 200) }
      #expect(try await moderation.delete(before: before, keepsAvatars: false) == 3)
      for mediaID in [small, avatar, roomAvatar] { #expect(try await status(fixture, ann, mediaID) == 404) }
      for mediaID in [protected, new] { #expect(try await status(fixture, ann, mediaID) == 200) }
    }
  }
}
