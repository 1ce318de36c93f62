import JSON
import Testing

@testable import CallServer

@Suite struct CompositionTests {
  private func file(_ stream: String, _ start: Int64, _ duration: Int64, video: String? = "vp8", part: Int = 1)
    -> ArchiveManifest.File
  {
    var file = ArchiveManifest.File(
      name: "\(stream)-\(part).webm",
      stream: ArchiveManifest.Stream(
        id: ByteString(stream), connection: "c", connectionData: "", name: ByteString("of \(stream)"), videoType: "camera"),
      startMilliseconds: start)
    (file.durationMilliseconds, file.audio, file.video) = (duration, "opus", video)
    return file
  }

  private func composition(_ files: ArchiveManifest.File...) -> Composition {
    var manifest = ArchiveManifest()
    manifest.files = files
    return Composition(manifest, ArchiveOptions())
  }

  @Test func `a stream has one cell, and who comes after it may have it then`() {
    let made = composition(
      file("a", 0, 10_000), file("b", 2_000, 3_000), file("b", 6_000, 1_000, part: 2), file("c", 8_000, 5_000),
      file("d", 1_000, 9_000))
    #expect(made.spans.map(\.stream) == ["a", "d", "b", "c"])
    #expect(made.spans.map(\.place) == [0, 1, 2, 2])
    #expect(made.spans.map(\.end) == [10_000, 10_000, 7_000, 13_000] && made.durationMilliseconds == 13_000)
    #expect(made.columns == 2 && made.rows == 2)
    #expect(
      (0..<3).map(made.cell) == [
        .init(x: 0, y: 0, width: 320, height: 240), .init(x: 320, y: 0, width: 320, height: 240),
        .init(x: 0, y: 240, width: 320, height: 240)
      ])
  }

  @Test(arguments: [(1, 1, 1), (2, 2, 1), (4, 2, 2), (5, 3, 2), (10, 4, 3), (25, 5, 5)])
  func `cells lie within the picture`(_ count: Int, _ columns: Int64, _ rows: Int64) {
    var manifest = ArchiveManifest()
    manifest.files = (0..<count).map { file("s\($0)", 0, 1_000) }
    let made = Composition(manifest, ArchiveOptions())
    #expect(made.columns == columns && made.rows == rows)
    for place in 0..<count {
      let cell = made.cell(place)
      #expect(cell.x + cell.width <= 640 && cell.y + cell.height <= 480 && cell.width % 2 == 0 && cell.height % 2 == 0)
    }
  }

  @Test func `sound alone makes no picture`() {
    let made = composition(file("a", 0, 1_000, video: nil))
    let arguments = made.arguments(hasNames: true, bytesLimit: 77)
    #expect(!arguments.contains("[picture]") && arguments.contains("[sound]") && arguments.contains("77"))
    #expect(arguments.last == Composition.unfinishedName)
  }

  /// Options before an input are that input's alone.
  @Test func `every file is read within the limits`() {
    let arguments = composition(file("a", 0, 1_000), file("b", 0, 1_000, video: "vp9")).arguments(
      hasNames: true, bytesLimit: nil)
    let inputs = arguments.split(separator: "-i").dropLast()
    #expect(inputs.count == 2)
    for input in inputs {
      for option in ["-protocol_whitelist", "-max_pixels", "-threads", "-f"] { #expect(input.contains(option)) }
    }
  }

  /// What participants write reaches FFmpeg in files only.
  @Test func `names are no part of what FFmpeg is told`() {
    var named = file("a", 0, 1_000)
    named = ArchiveManifest.File(
      name: named.name,
      stream: ArchiveManifest.Stream(
        id: "a", connection: "c", connectionData: "", name: "x'];movie=/etc/passwd\u{7}\n", videoType: "camera"),
      startMilliseconds: 0)
    (named.durationMilliseconds, named.video) = (1_000, "vp8")
    let made = composition(named)
    #expect(made.spans[0].name == "x'];movie=/etc/passwd  ")
    #expect(!made.arguments(hasNames: true, bytesLimit: nil).contains { $0.contains("movie") })
  }
}
