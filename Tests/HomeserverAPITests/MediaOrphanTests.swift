import Glibc
import JSON
import MatrixModel
import Testing

@testable import ServerMedia

/// Files that a crash has left between their move into place and the commit of their row.
@Suite struct MediaOrphanTests {
  /// What an upload does before its row is written; the path and hash of its file.
  private func keep(_ text: String, _ media: MediaRepository) throws -> (path: String, hash: String) {
    let file = try IncomingFile(in: media.folder)
    #expect(file.hold(Array(text.utf8)))
    let hash = file.hash()
    try file.keep(as: hash)
    return (media.folder.path(of: hash), hash)
  }

  private func setAge(_ path: String, _ milliseconds: Int64, _ fixture: APIFixture) {
    let written = fixture.homeserver.configuration.clock.now() - milliseconds
    var times = [timespec(tv_sec: Int(written / 1_000), tv_nsec: Int(written % 1_000) * 1_000_000)]
    times.append(times[0])
    #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Looks through everything.
  private func sweep(_ media: MediaRepository) async throws {
    for _ in 0..<(256 / FolderStore.sweptParts) { try await media.sweepContent() }
  }

  @Test func `a file that no row names goes when it is old enough, with its thumbnails`() async throws {
    try await APIFixture.run { fixture in
      let media = fixture.homeserver.media
      let (path, _) = try keep("orphan", media)
      let thumbnail = path + "-64x64-crop.png"
      #expect(link(path, thumbnail) == 0)
      setAge(path, FolderStore.orphanAgeMilliseconds - 1, fixture)
      try await sweep(media)
      #expect(exists(path) && exists(thumbnail))
      setAge(path, FolderStore.orphanAgeMilliseconds, fixture)
      try await sweep(media)
      #expect(!exists(path) && !exists(thumbnail))
    }
  }

  @Test func `a file that a row names stays however old, and an upload takes an orphan over`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let media = fixture.homeserver.media
      let (path, hash) = try keep("content", media)
      var pieces = [Array("content".utf8)]
      let upload = try MediaUpload(contentType: "text/plain", fileName: nil, announcedBytes: nil)
      let uri = try await media.upload(upload, by: ann.userID) { pieces.popLast() }
      setAge(path, 100 * FolderStore.orphanAgeMilliseconds, fixture)
      try await sweep(media)
      #expect(exists(path))
      #expect(try await media.item("example.org", uri.mediaID, for: .user(ann.userID)).hash == hash)
    }
  }

  @Test func `one sweep looks through a part of the files, the next through the next`() async throws {
    try await APIFixture.run { fixture in
      let media = fixture.homeserver.media
      var left: [String] = []
      for byte in 0..<256 {
        let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
        let path = media.folder.path(of: digits + String(repeating: "0", count: 62))
        #expect(mkdir(media.folder.path + "/" + digits, 0o700) == 0)
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        setAge(path, FolderStore.orphanAgeMilliseconds, fixture)
        left.append(path)
      }
      for step in 1...(256 / FolderStore.sweptParts) {
        try await media.sweepContent()
        #expect(left.filter(exists).count == 256 - step * FolderStore.sweptParts)
      }
    }
  }

  @Test func `what is not named like content is left alone`() async throws {
    try await APIFixture.run { fixture in
      let media = fixture.homeserver.media
      let (path, hash) = try keep("orphan", media)
      let other = "\(media.folder.path)/\(hash.prefix(2))/README"
      #expect(link(path, other) == 0)
      setAge(path, FolderStore.orphanAgeMilliseconds, fixture)
      try await sweep(media)
      #expect(!exists(path) && exists(other))
    }
  }
}
