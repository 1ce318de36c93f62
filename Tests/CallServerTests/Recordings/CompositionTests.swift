import JSON
import Testing

@testable import CallServer

@Suite struct CompositionTests {
  private func file(_ stream: String, _ start: Int64, _ duration: Int64, video: String? = "vp8", part: Int = 1)
    -> RecordingManifest.File
  {
    var file = RecordingManifest.File(
      name: "\(stream)-\(part).webm",
      stream: RecordingManifest.Stream(
        id: ByteString(stream), connection: "c", connectionData: "", name: ByteString("of \(stream)"), videoType: "camera"),
      startMilliseconds: start)
    (file.durationMilliseconds, file.audio, file.video) = (duration, "opus", video)
    return file
  }

  private func composition(_ files: RecordingManifest.File..., changes: [RecordingManifest.Change] = []) -> Composition {
    var manifest = RecordingManifest()
    manifest.files = files
    manifest.changes = changes
    return Composition(manifest, RecordingOptions())
  }

  private func places(_ made: Composition, of stream: ByteString) -> [[Int64]] {
    made.spans.first { $0.stream == stream }!.places.map {
      [$0.start, $0.end, $0.cell.x, $0.cell.y, $0.cell.width, $0.cell.height]
    }
  }

  @Test func `a stream lasts from its first file to the end of its last, and its place follows the participants`() {
    let made = composition(
      file("a", 0, 10_000), file("b", 2_000, 3_000), file("b", 6_000, 1_000, part: 2), file("c", 8_000, 5_000))
    #expect(made.spans.map(\.stream) == ["a", "b", "c"] && made.spans.map(\.end) == [10_000, 7_000, 13_000])
    #expect(made.durationMilliseconds == 13_000)
    let half: [Int64] = [320, 480]
    #expect(
      places(made, of: "a") == [
        [0, 2_000, 0, 0, 640, 480], [2_000, 7_000, 0, 0] + half, [7_000, 8_000, 0, 0, 640, 480], [8_000, 10_000, 0, 0] + half
      ])
    #expect(places(made, of: "b") == [[2_000, 7_000, 320, 0] + half])
    #expect(places(made, of: "c") == [[8_000, 10_000, 320, 0] + half, [10_000, 13_000, 0, 0, 640, 480]])
  }

  // Proves M46
  @Test func `another layout and other classes count from the moment on at which they came`() throws {
    var picture = RecordingLayout()
    picture.kind = .pip
    let bob = StreamID(trusted: "b")
    let made = composition(
      file("a", 0, 9_000), file("b", 0, 9_000), file("c", 0, 9_000),
      changes: [
        .init(milliseconds: 0, what: .layout(picture)), .init(milliseconds: 3_000, what: .classes(bob, ["full"])),
        .init(milliseconds: 6_000, what: .classes(bob, [])), .init(milliseconds: 20_000, what: .layout(RecordingLayout()))
      ])
    #expect(
      places(made, of: "a") == [
        [0, 3_000, 0, 0, 640, 480], [3_000, 6_000, 464, 344, 160, 120], [6_000, 9_000, 0, 0, 640, 480]
      ])
    #expect(
      places(made, of: "b") == [
        [0, 3_000, 464, 344, 160, 120], [3_000, 6_000, 0, 0, 640, 480], [6_000, 9_000, 464, 344, 160, 120]
      ])
    #expect(places(made, of: "c").isEmpty)
    // The participant in the corner comes after the one that it hides, whichever of them that is.
    let graph = made.graph(hasNames: true)
    #expect(graph.split(separator: "overlay=", omittingEmptySubsequences: false).count == 5)
    #expect(graph.contains("textfile=name-0.txt") && !graph.contains("textfile=name-2.txt"))
  }

  @Test func `a screen has the large place where that was wanted`() {
    var layout = RecordingLayout()
    layout.screenKind = .verticalPresentation
    var screen = file("screen", 2_000, 2_000)
    screen = RecordingManifest.File(
      name: screen.name,
      stream: RecordingManifest.Stream(id: "screen", connection: "c", connectionData: "", name: "", videoType: "screen"),
      startMilliseconds: 2_000)
    (screen.durationMilliseconds, screen.video) = (2_000, "vp8")
    let made = composition(file("a", 0, 4_000), screen, changes: [.init(milliseconds: 0, what: .layout(layout))])
    #expect(places(made, of: "a") == [[0, 2_000, 0, 0, 640, 480], [2_000, 4_000, 0, 0, 160, 480]])
    #expect(places(made, of: "screen") == [[2_000, 4_000, 160, 0, 480, 480]])
  }

  @Test func `sound alone makes no picture`() {
    let made = composition(file("a", 0, 1_000, video: nil))
    let arguments = made.arguments(bytesLimit: 77)
    #expect(
      !made.graph(hasNames: true).contains("[picture]") && !arguments.contains("[picture]") && arguments.contains("[sound]")
        && arguments.contains("77"))
    #expect(arguments.last == Composition.unfinishedName)
  }

  /// Options before an input are that input's alone.
  @Test func `every file is read within the limits`() {
    let arguments = composition(file("a", 0, 1_000), file("b", 0, 1_000, video: "vp9")).arguments(bytesLimit: nil)
    let inputs = arguments.split(separator: "-i").dropLast()
    #expect(inputs.count == 2)
    for input in inputs {
      for option in ["-protocol_whitelist", "-max_pixels", "-threads", "-f"] { #expect(input.contains(option)) }
    }
  }

  /// What participants write reaches FFmpeg in files only.
  @Test func `names are no part of what FFmpeg is told`() {
    var named = file("a", 0, 1_000)
    named = RecordingManifest.File(
      name: named.name,
      stream: RecordingManifest.Stream(
        id: "a", connection: "c", connectionData: "", name: "x'];movie=/etc/passwd\u{7}\n", videoType: "camera"),
      startMilliseconds: 0)
    (named.durationMilliseconds, named.video) = (1_000, "vp8")
    let made = composition(named)
    #expect(made.spans[0].name == "x'];movie=/etc/passwd  ")
    #expect(!made.graph(hasNames: true).contains("movie") && !made.arguments(bytesLimit: nil).contains { $0.contains("movie") })
  }
}
