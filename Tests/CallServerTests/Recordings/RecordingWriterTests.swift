import Glibc
import JSON
import MediaRouter
import Testing

@testable import CallServer
@testable import Recording

@Suite struct RecordingWriterTests {
  /// A recording in a folder of its own, of one stream of sound.
  private final class World {
    static let project = ProjectID(trusted: "4")
    let directory: String
    let usage: RecordingUsage
    let folder: RecordingFolder
    let stream = RecordedStream(
      id: StreamID(trusted: "11111111-2222-4333-8444-555555555555"), connection: ConnectionID(trusted: "c"),
      connectionData: #"{"user":"ü"}"#, name: "Alice", videoType: .camera)
    var writer: RecordingWriter
    private var now: Int64 = 5_000_000
    private var sequence: UInt64 = 1

    init(quotaBytes: Int64? = nil, filesLimit: Int = CallLimits.filesOfRecording) throws {
      var template = Array("/tmp/martlet-recording-XXXXXX".utf8CString)
      directory = String(cString: mkdtemp(&template))
      try RecordingFolder.makeRoot(in: directory)
      usage = RecordingUsage(quotaBytes: quotaBytes)
      folder = RecordingFolder(RecordingID(trusted: "recording"), in: directory)
      writer = try RecordingWriter(
        folder, usage.share(of: Self.project), began: MediaTime(microseconds: now), filesLimit: filesLimit)
      writer.add(stream, SubscriptionID(1), .opus, now: MediaTime(microseconds: now))
    }

    func run(milliseconds: Int64, bytesOfPacket: Int = 40) {
      for _ in 0..<(milliseconds / 20) {
        let packet = TappedBatch.Packet(
          subscription: SubscriptionID(1), sequence: sequence, timestamp: UInt32(sequence * 960), marker: false,
          startsFrame: false,
          isKeyFrame: false, arrival: MediaTime(microseconds: now), media: 0..<0)
        writer.receive(packet, [UInt8](repeating: 7, count: bytesOfPacket), of: stream.id)
        sequence += 1
        now += 20_000
        if sequence % 10 == 0 { writer.advance(to: MediaTime(microseconds: now)) }
      }
    }

    func finish() -> RecordingSummary { writer.finish(now: MediaTime(microseconds: now)) }

    var names: [String] {
      (0..<10).map { "\(stream.id)-\($0).webm" }.filter { access(folder.file($0), F_OK) == 0 }
    }

    /// Descriptors of files in the folder.
    var openFiles: Int {
      (0..<Int(getdtablesize())).count { number in
        var path = [CChar](repeating: 0, count: 1_024)
        guard readlink("/proc/self/fd/\(number)", &path, path.count - 1) > 0 else { return false }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix(directory)
      }
    }
  }

  // Proves M44
  @Test func `the manifest tells whose each file is, and what it counts is what lies there`() throws {
    let world = try World()
    world.run(milliseconds: 3_000)
    world.writer.end(world.stream.id, now: MediaTime(microseconds: 8_000_000))
    // It comes again.
    world.writer.add(world.stream, SubscriptionID(1), .opus, now: MediaTime(microseconds: 8_000_000))
    world.run(milliseconds: 2_000)
    #expect(world.openFiles == 1)
    let summary = world.finish()
    #expect(world.openFiles == 0)
    #expect(summary.filesCount == 2 && summary.reason.isEmpty && summary.mainFile == "manifest.json")
    #expect(abs(summary.durationMilliseconds - 5_000) <= 1)
    let manifest = try #require(world.folder.manifest)
    #expect(manifest.files.map(\.name) == world.names && world.names.count == 2)
    #expect(manifest.files.map(\.startMilliseconds) == [0, 3_000])
    #expect(manifest.files.allSatisfy { $0.audio == "opus" && $0.video == nil && $0.stream.connectionData == #"{"user":"ü"}"# })
    let sizes = world.names.map { RecordingFile(reading: world.folder.file($0))!.bytes }
    #expect(manifest.files.map(\.bytes) == sizes && summary.bytes == sizes.reduce(0, +) && world.usage.bytes == summary.bytes)
  }

  @Test func `a recording without a file leaves no folder`() throws {
    let world = try World()
    #expect(access(world.folder.path, F_OK) == 0)
    #expect(world.finish().filesCount == 0 && access(world.folder.path, F_OK) != 0)
  }

  @Test func `one project cannot take the room of all: half of the quota is kept in equal shares`() {
    let usage = RecordingUsage(quotaBytes: 1_000) { 5 }
    let shares = ["a", "b", "c"].map { usage.share(of: ProjectID(trusted: ByteString($0))) }
    // The common half, and its own hundred.
    #expect(shares[0].take(600) && !shares[0].take(1) && shares[0].isFull)
    #expect(shares[1].take(100) && !shares[1].take(1) && !shares[2].isFull)
    shares[0].give(back: 200)
    #expect(shares[1].rest == 200 && shares[0].rest == 200 && usage.bytes == 500)
    // What had to be written is another's loss of the common half alone.
    shares[0].add(500)
    #expect(shares[2].rest == -200 && shares[2].isFull)
    #expect(RecordingUsage(quotaBytes: 10).share(of: World.project).rest == 10)
    #expect(RecordingUsage(quotaBytes: nil).share(of: World.project).take(1 << 40))
  }

  // Proves M50
  @Test func `at the quota a recording ends with what there is`() throws {
    let world = try World(quotaBytes: 20_000)
    world.run(milliseconds: 20_000, bytesOfPacket: 100)
    let isBroken = world.writer.isBroken
    #expect(isBroken)
    let summary = world.finish()
    #expect(summary.reason == "The quota of recordings is used up." && summary.filesCount == 1)
    guard let file = RecordingFile(reading: world.folder.file(world.names[0])),
      let recovery = WebMRecovery(size: file.bytes, read: { file.read(at: $0, count: $1) })
    else {
      Issue.record("there is no file")
      return
    }
    #expect(recovery.durationMilliseconds == summary.durationMilliseconds && summary.durationMilliseconds > 2_000)
    let bytes = file.bytes
    #expect(bytes == summary.bytes && world.usage.bytes == summary.bytes && summary.bytes < 20_500)
    #expect(!world.usage.share(of: World.project).take(20_000) && world.usage.bytes == summary.bytes)
  }

  /// Each picture that follows sound begins a new file, and so does each new publication.
  @Test func `a recording has so many files, and all of them are whole`() throws {
    let filesLimit = 50
    let world = try World(filesLimit: filesLimit)
    for _ in 0..<filesLimit {
      world.run(milliseconds: 20)
      world.writer.end(world.stream.id, now: MediaTime(microseconds: 5_000_000))
      world.writer.add(world.stream, SubscriptionID(1), .opus, now: MediaTime(microseconds: 5_000_000))
    }
    let before = (world.writer.isFull, world.writer.isBroken)
    #expect(before == (false, false))
    world.run(milliseconds: 2_000)
    world.writer.end(world.stream.id, now: MediaTime(microseconds: 7_000_000))
    let after = (world.writer.isFull, world.writer.isBroken)
    #expect(after == (true, false))
    let summary = world.finish()
    #expect(summary.filesCount == filesLimit && world.openFiles == 0)
    let manifest = try #require(world.folder.manifest)
    #expect(manifest.files.count == filesLimit && manifest.files.allSatisfy { $0.durationMilliseconds > 0 })
    #expect(world.usage.bytes == summary.bytes && summary.bytes == manifest.bytes)
    world.folder.remove()
  }

  /// All texts as long as they may be, of what takes most bytes.
  @Test func `the manifest of the largest recording can be read`() throws {
    let world = try World()
    let long = ByteString(String(repeating: "\u{1}", count: CallLimits.streamNameCharacters))
    let stream = RecordingManifest.Stream(id: "s", connection: "c", connectionData: long, name: long, videoType: "camera")
    var manifest = RecordingManifest()
    for i in 0..<CallLimits.filesOfRecording {
      manifest.files.append(RecordingManifest.File(name: "\(i).webm", stream: stream, startMilliseconds: 1))
    }
    let classes = ByteString(String(repeating: "\u{1}", count: CallLimits.layoutClassesCharacters))
    for _ in 0..<CallLimits.changesOfRecording {
      manifest.changes.append(.init(milliseconds: 1, what: .classes(world.stream.id, [classes])))
    }
    try world.folder.write(manifest)
    #expect(world.folder.manifest == manifest)
    world.folder.remove()
  }

  @Test func `what changes about the picture is kept with its time, also where the server is killed after it`() throws {
    let world = try World()
    var layout = RecordingLayout()
    (layout.kind, layout.screenKind) = (.bestFit, .pip)
    world.writer.note(.layout(layout), now: MediaTime(microseconds: 5_000_000))
    world.run(milliseconds: 3_000)
    world.writer.note(.classes(world.stream.id, ["focus", "x"]), now: MediaTime(microseconds: 8_000_000))
    world.run(milliseconds: 1_000)
    let changes: [RecordingManifest.Change] = [
      .init(milliseconds: 0, what: .layout(layout)), .init(milliseconds: 3_000, what: .classes(world.stream.id, ["focus", "x"]))
    ]
    #expect(world.folder.manifest?.changes == changes)
    #expect(try world.folder.recover().changes == changes)
    world.folder.remove()
  }

  @Test func `a folder that cannot be written ends a recording with the reason`() throws {
    let world = try World()
    world.folder.remove()
    world.run(milliseconds: 2_000)
    let summary = world.finish()
    #expect(summary.filesCount == 0 && summary.reason.string.contains("No such file"))
    #expect(world.openFiles == 0 && world.usage.bytes == 0)
  }

  @Test func `what a crash left is made whole, and what holds nothing goes`() throws {
    let world = try World()
    world.run(milliseconds: 6_000)
    // As if it were killed here: the manifest is of the beginning, the last cluster torn.
    let name = world.names[0]
    var file = RecordingFile(changing: world.folder.file(name))
    try file?.append([0x1F, 0x43, 0xB6, 0x75, 0x01, 0, 0, 0, 0, 0, 0, 99, 1, 2, 3])
    var manifest = try #require(world.folder.manifest)
    let empty = RecordingManifest.File(name: "empty-1.webm", stream: manifest.files[0].stream, startMilliseconds: 0)
    manifest.files.append(empty)
    try world.folder.write(manifest)
    _ = try RecordingFile(creating: world.folder.file(empty.name))
    let recovered = try world.folder.recover()
    #expect(recovered.files.map(\.name) == [name] && recovered == world.folder.manifest)
    #expect((4_000...6_000).contains(recovered.durationMilliseconds))
    #expect(recovered.bytes == RecordingFile(reading: world.folder.file(name))!.bytes)
    #expect(access(world.folder.file(empty.name), F_OK) != 0)
    #expect(world.folder.exists && world.folder.hasOthers)
    // Once more changes nothing that is told.
    #expect(try world.folder.recover().durationMilliseconds == recovered.durationMilliseconds)
    unlink(world.folder.file(name))
    #expect(!world.folder.hasOthers)
    world.folder.remove()
    #expect(!world.folder.exists)
  }

  @Test(arguments: [
    ("manifest.json", true), ("11111111-2222-4333-8444-555555555555-12.webm", true), ("..", false), ("", false), (".x", false),
    ("a/b", false), ("a.b.c", false), ("a%2F", false), (String(repeating: "a", count: 65), false)
  ]) func `no name leads elsewhere`(_ name: String, _ isAccepted: Bool) {
    #expect(RecordingFolder.accepts(fileName: name) == isAccepted)
  }
}
