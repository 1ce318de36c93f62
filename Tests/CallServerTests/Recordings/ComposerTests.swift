import EventLoop
import Glibc
import JSON
import Recording
import Testing

@testable import CallServer

/// With FFmpeg itself.
@Suite struct ComposerTests {
  /// A recording of Alice, who sends two seconds of a picture, and of Mallory.
  private struct World {
    let folder: RecordingFolder
    let program: String
    var manifest = RecordingManifest()

    init() throws {
      var template = Array("/tmp/martlet-composer-XXXXXX".utf8CString)
      let directory = String(cString: mkdtemp(&template))
      try RecordingFolder.makeRoot(in: directory)
      folder = RecordingFolder(RecordingID(trusted: "recording"), in: directory)
      try folder.make()
      program = try #require(ChildProgram.find("ffmpeg"))
      let source = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=2", "-c:v", "libvpx"]
      _ = try RecordingFile(creating: folder.file("alice-1.webm"))
      #expect(
        try run(["-y", "-v", "error"] + source + ["-f", "matroska", "alice-1.webm"], writable: "alice-1.webm") == .exit(0))
      manifest.files = [Self.file("alice", "vp8")]
    }

    func run(_ arguments: [String], writable: String...) throws -> ChildProgram.End {
      try ChildProgram(
        path: program, arguments: ["-nostdin"] + arguments, folder: folder.path, writable: writable, timeLimitSeconds: 60
      )
      .run(isWanted: { true }, line: { _ in })
    }

    static func file(_ name: String, _ video: String) -> RecordingManifest.File {
      var file = RecordingManifest.File(
        name: "\(name)-1.webm",
        stream: RecordingManifest.Stream(
          id: ByteString(name), connection: "c", connectionData: "", name: ByteString(name), videoType: "camera"),
        startMilliseconds: 0)
      (file.durationMilliseconds, file.video, file.width, file.height) = (2_000, video, 640, 480)
      return file
    }

    mutating func addMallory(_ track: WebMTrack, _ video: String, _ frames: [[UInt8]]) throws {
      var writer = WebMWriter([track])
      var file = try RecordingFile(creating: folder.file("mallory-1.webm"))
      try file.append(writer.header)
      for (i, frame) in frames.enumerated() {
        try file.append(writer.add(frame, track: 0, milliseconds: Int64(40 * i), isKey: i == 0))
      }
      try file.append(writer.flush())
      manifest.files.append(Self.file("mallory", video))
    }

    func compose() async throws -> RecordingManifest {
      let composer = try Composer()
      let usage = RecordingUsage(quotaBytes: nil)
      let made: Result<RecordingManifest, Composer.Failure>
      do throws(Composer.Failure) {
        made = .success(
          try await composer.compose(manifest, RecordingOptions(), in: folder, usage.share(of: ProjectID(trusted: "4"))))
      } catch { made = .failure(error) }
      await composer.shutdown()
      return try made.get()
    }
  }

  private static func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// A head that says 640 by 480, and nothing that could be decoded behind it.
  private static let vp9 = hex("83 49 83 42 20 27 F0 1D FF") + [UInt8](repeating: 0xFF, count: 25)
  private static let vp8 = hex("10 00 00 9D 01 2A 80 02 E0 01 00")

  // Proves M46
  @Test(arguments: [
    (WebMTrack.vp9(width: 640, height: 480), "vp9", [[UInt8]](repeating: vp9, count: 25)),
    (.vp8(width: 640, height: 480), "vp8", [vp8] + [[UInt8]](repeating: [0x11, 1], count: 400)),
    (.vp8(width: 16_383, height: 16_383), "vp8", [[UInt8]](repeating: hex("10 00 00 9D 01 2A FF 3F FF 3F 00"), count: 25))
  ])
  func `a picture that cannot be read costs the others nothing`(
    _ track: WebMTrack, _ video: String, _ frames: [[UInt8]]
  ) async throws {
    var world = try World()
    try world.addMallory(track, video, frames)
    let made = try await world.compose()
    #expect(made.files == world.manifest.files && made.composed?.video == "h264")
    #expect(world.folder.manifest == made)
    #expect(
      try world.run(["-v", "error", "-xerror", "-i", Composition.fileName, "-map", "0:v:0", "-f", "null", "-"]) == .exit(0))
    world.folder.remove()
  }

  @Test func `where nothing can be read there is no composed file`() async throws {
    var world = try World()
    world.manifest.files = []
    try world.addMallory(.vp9(width: 640, height: 480), "vp9", [Self.vp9])
    await #expect(throws: Composer.Failure.self) { try await world.compose() }
    #expect(access(world.folder.file(Composition.unfinishedName), F_OK) != 0)
    world.folder.remove()
  }
}

@Suite struct TurnsTests {
  @Test func `whose last turn is longest ago is next, and what one has comes in order`() {
    var turns = Turns<String, Int>()
    let isFirst = turns.begin(0, of: "a")
    #expect(isFirst)
    for (number, owner) in ["a", "a", "a", "b", "c", "b"].enumerated() {
      let isItsTurn = turns.begin(number + 1, of: owner)
      #expect(!isItsTurn)
    }
    // b and c have had none yet.
    var order: [Int?] = []
    for _ in 0..<7 { order.append(turns.end()) }
    #expect(order == [4, 5, 1, 6, 2, 3, nil])
    let isItsTurn = turns.begin(7, of: "a")
    #expect(isItsTurn)
  }
}
