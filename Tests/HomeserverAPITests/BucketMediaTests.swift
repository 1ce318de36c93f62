import Glibc
import JSON
import MatrixModel
import ObjectStore
import OutboundTesting
import Telemetry
import Testing

@testable import ServerMedia

/// What becomes of objects in a bucket, through uploads, deletions and sweeps that meet.
@Suite struct BucketMediaTests {
  private func run(
    cacheBytes: Int64 = 1 << 20, _ body: (APIFixture, BucketStore, ObjectServer) async throws -> Void
  ) async throws {
    let server = ObjectServer()
    defer { server.close() }
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.media.cacheBytesLimit = cacheBytes
      $0.media.bucket = BucketConfiguration(
        endpoint: server.endpoint, region: "r", bucket: ObjectServer.bucket, accessKey: "a", secretKey: Redacted("s"))
    }) { fixture in
      try await body(fixture, try #require(fixture.homeserver.media.store as? BucketStore), server)
    }
  }

  private func upload(_ text: String, _ fixture: APIFixture, by user: UserID) async throws -> ByteString {
    var pieces = [Array(text.utf8)]
    let upload = try MediaUpload(contentType: "text/plain", fileName: nil, announcedBytes: nil)
    return try await fixture.homeserver.media.upload(upload, by: user) { pieces.popLast() }.mediaID
  }

  private func state(_ hash: String, _ store: BucketStore) async throws -> MediaObjects.State? {
    try await store.database.read { tx in try MediaObjects.state(of: hash, tx) }
  }

  private func set(_ hash: String, to state: String, _ store: BucketStore) async throws {
    try await store.database.write { tx in
      try tx.execute("UPDATE media_object SET state = $2 WHERE hash = $1", hash, state)
    }
  }

  private func puts(_ server: ObjectServer) -> Int { server.requests.count { $0.hasPrefix("PUT media/") } }

  @Test func `an object goes a day after its last name, with its thumbnails`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      let names = [try await upload("content", fixture, by: ann.userID), try await upload("content", fixture, by: ann.userID)]
      #expect(server.keys == [BucketStore.key(hash)] && puts(server) == 1)
      server.set(BucketStore.thumbnailKeys(hash) + "32x32c", to: [1])
      try await fixture.homeserver.mediaModeration.delete(names[0])
      #expect(try await state(hash, store) == .alive)
      try await fixture.homeserver.mediaModeration.delete(names[1])
      #expect(try await state(hash, store) == .doomed)
      #expect(access(store.folder.path(of: hash), F_OK) != 0)
      fixture.advance(milliseconds: BucketStore.graceMilliseconds - 1)
      try await store.sweep()
      #expect(server.keys.count == 2)
      fixture.advance(milliseconds: 1)
      try await store.sweep()
      #expect(server.keys == [])
      #expect(try await state(hash, store) == nil)
    }
  }

  @Test func `an upload of what is about to go keeps it, without writing it again`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      try await fixture.homeserver.mediaModeration.delete(try await upload("content", fixture, by: ann.userID))
      fixture.advance(milliseconds: BucketStore.graceMilliseconds)
      _ = try await upload("content", fixture, by: ann.userID)
      #expect(try await state(hash, store) == .alive)
      fixture.advance(milliseconds: BucketStore.graceMilliseconds)
      try await store.sweep()
      #expect(server.keys == [BucketStore.key(hash)] && puts(server) == 1)
    }
  }

  @Test func `an upload waits for the end of a removal and then writes the object again`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      try await fixture.homeserver.mediaModeration.delete(try await upload("content", fixture, by: ann.userID))
      try await set(hash, to: "deleting", store)
      async let again = upload("content", fixture, by: ann.userID)
      // The removal that a killed server has left.
      try await store.sweep()
      _ = try await again
      #expect(server.keys == [BucketStore.key(hash)] && puts(server) == 2)
      #expect(try await state(hash, store) == .alive)
    }
  }

  @Test func `an upload whose object is removed before it has a name writes it again`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      let database = store.database
      server.afterEach { method, _ in
        guard method == "PUT", puts(server) == 1 else { return }
        // Before the connection brings the next answer, but perhaps after the name: the name's own look decides.
        _ = try? database.writeBlocking { tx in try tx.execute("DELETE FROM media_object WHERE state = 'arriving'") }
      }
      let name = try await upload("content", fixture, by: ann.userID)
      #expect(server.keys == [BucketStore.key(hash)] && puts(server) <= 2)
      #expect(try await fixture.homeserver.media.item("example.org", name, for: .user(ann.userID)).hash == hash)
      #expect(try await state(hash, store) == .alive)
    }
  }

  @Test func `what was written for an upload that failed goes after a day, unless something names it`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      for (text, isNamed) in [("named", true), ("unnamed", false)] {
        let hash = Bucket.hash(of: Array(text.utf8))
        if isNamed { _ = try await upload(text, fixture, by: ann.userID) }
        server.set(BucketStore.key(hash), to: Array(text.utf8))
        try await store.database.write { tx in
          try tx.execute("DELETE FROM media_object WHERE hash = $1", hash)
          _ = try store.objects.arrive(hash, tx)
        }
      }
      fixture.advance(milliseconds: BucketStore.graceMilliseconds)
      try await store.sweep()
      let named = Bucket.hash(of: Array("named".utf8))
      #expect(server.keys == [BucketStore.key(named)])
      #expect(try await state(named, store) == .alive)
    }
  }

  @Test func `content that was deleted before it was copied to the bucket is written when it is uploaded again`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      let name = try await upload("content", fixture, by: ann.userID)
      // As if it had come before there was a bucket.
      server.remove(BucketStore.key(hash))
      try await store.database.write { tx in try tx.execute("DELETE FROM media_object") }
      try await fixture.homeserver.mediaModeration.delete(name)
      _ = try await upload("content", fixture, by: ann.userID)
      #expect(server.keys == [BucketStore.key(hash)])
    }
  }

  @Test func `an object that is not what its name says is neither kept nor taken for whole`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      let name = try await upload("content", fixture, by: ann.userID)
      unlink(store.folder.path(of: hash))
      server.set(BucketStore.key(hash), to: Array("tampers".utf8))
      await #expect(throws: BucketError.damaged(key: BucketStore.key(hash))) { try await store.path(of: hash, bytes: 7) }
      #expect(access(store.folder.path(of: hash), F_OK) != 0)
      server.set(BucketStore.key(hash), to: Array("content".utf8))
      let item = try await fixture.homeserver.media.item("example.org", name, for: .user(ann.userID))
      var bytes: [UInt8] = []
      try await #require(item.content.remote).open(3..<7).send { bytes += $0 }
      #expect(bytes == Array("tent".utf8))
    }
  }

  @Test func `a cached file that a power failure has cut short is fetched anew`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let hash = Bucket.hash(of: Array("content".utf8))
      _ = try await upload("content", fixture, by: ann.userID)
      let path = store.folder.path(of: hash)
      #expect(truncate(path, 3) == 0)
      #expect(try await store.path(of: hash, bytes: 7) == path)
      #expect(try ContentDigest.ofFile(path)?.hash == hash)
    }
  }

  @Test func `the least recently used files go when the cache is full`() async throws {
    try await run(cacheBytes: 10_000) { fixture, store, _ in
      let ann = try await fixture.register("ann")
      let texts = (0..<12).map { String(repeating: "\($0) ", count: 400) }
      let paths = texts.map { store.folder.path(of: Bucket.hash(of: Array($0.utf8))) }
      for (text, path) in zip(texts, paths) {
        _ = try await upload(text, fixture, by: ann.userID)
        #expect(store.cache.use(paths[0]), "what is used stays")
        #expect(access(path, F_OK) == 0, "the newest stays")
      }
      let left = paths.filter { access($0, F_OK) == 0 }
      #expect(left.count < 12 && left.contains(paths[0]) && left.contains(paths[11]) && !left.contains(paths[1]))
      #expect(store.cache.bytes <= 10_000)
    }
  }

  @Test func `the check finds what is missing and what nothing names, and dooms only that`() async throws {
    try await run { fixture, store, server in
      let ann = try await fixture.register("ann")
      let lost = Bucket.hash(of: Array("lost".utf8))
      let stray = Bucket.hash(of: Array("stray".utf8))
      _ = try await upload("kept", fixture, by: ann.userID)
      _ = try await upload("lost", fixture, by: ann.userID)
      server.set(BucketStore.key(lost), to: [])
      server.set(BucketStore.key(stray), to: Array("stray".utf8))
      let check = try await store.check(dooms: true)
      #expect(check.objects == 3 && check.missing == [lost] && check.unnamed == [stray])
      #expect(try await state(stray, store) == .arriving)
      #expect(try await store.check(dooms: true).unnamed == [])
      fixture.advance(milliseconds: BucketStore.graceMilliseconds)
      try await store.sweep()
      #expect(!server.keys.contains(BucketStore.key(stray)) && server.keys.count == 2)
    }
  }
}
