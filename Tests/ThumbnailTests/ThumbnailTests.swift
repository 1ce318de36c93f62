import CLinux
import CVips
import FilesTesting
import Glibc
import Testing

@Suite("martlet-thumbnail")
struct ThumbnailTests {
  struct Case {
    let source: (Int, Int)
    let box: (Int, Int)
    let method: String
    let result: (Int, Int)
  }

  @Test(
    "reduces to fit or to cover the box and never enlarges",
    arguments: [
      Case(source: (400, 200), box: (100, 100), method: "scale", result: (100, 50)),
      Case(source: (200, 400), box: (100, 100), method: "scale", result: (50, 100)),
      Case(source: (400, 200), box: (100, 100), method: "crop", result: (100, 100)),
      Case(source: (400, 200), box: (96, 48), method: "crop", result: (96, 48)),
      Case(source: (40, 20), box: (100, 100), method: "scale", result: (40, 20)),
      Case(source: (40, 20), box: (100, 100), method: "crop", result: (20, 20)),
      Case(source: (40, 200), box: (100, 50), method: "crop", result: (40, 20)),
      Case(source: (1, 1), box: (4096, 4096), method: "crop", result: (1, 1)),
      Case(source: (500, 1), box: (10, 10), method: "scale", result: (10, 1))
    ])
  func size(_ sample: Case) {
    let source = Samples.halves(width: sample.source.0, height: sample.source.1)
    let run = Program.run(["\(sample.box.0)", "\(sample.box.1)", sample.method], input: source)
    #expect(run.exitCode == 0)
    let (words, body) = run.answer
    #expect(
      words == [
        "image/jpeg", "\(sample.result.0)", "\(sample.result.1)", "\(body.count)", "\(sample.source.0)",
        "\(sample.source.1)", "1", "image/png"
      ])
    #expect(Array(body.prefix(3)) == [0xFF, 0xD8, 0xFF])
    #expect(
      Program.run(["--probe"], input: body).output == Array("image/jpeg \(sample.result.0) \(sample.result.1)\n".utf8))
  }

  @Test("keeps transparency by answering with a PNG")
  func transparency() {
    let run = Program.run(["32", "32", "scale"], input: Samples.transparent(width: 64, height: 64))
    #expect(run.exitCode == 0)
    #expect(run.answer.words.prefix(3) == ["image/png", "32", "32"])
    #expect(Array(run.answer.body.prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
  }

  @Test("turns by the Exif orientation and keeps nothing of the metadata", arguments: [1, 3, 6, 8] as [UInt8])
  func orientation(_ orientation: UInt8) {
    let source = Samples.turned(Samples.jpeg(width: 200, height: 100), orientation: orientation)
    let run = Program.run(["50", "50", "scale"], input: source)
    let isSideways = orientation >= 5
    #expect(run.exitCode == 0)
    #expect(run.answer.words[1...2] == (isSideways ? ["25", "50"] : ["50", "25"]))
    #expect(run.answer.words[4...5] == (isSideways ? ["100", "200"] : ["200", "100"]))
    #expect(String(decoding: source, as: Unicode.ASCII.self).contains("SECRETCAMERA"))
    #expect(!String(decoding: run.output, as: Unicode.ASCII.self).contains("SECRETCAMERA"))
    #expect(!String(decoding: run.output, as: Unicode.ASCII.self).contains("Exif"))
  }

  @Test(
    "finds type and size of every permitted type",
    arguments: [
      (Samples.gif, "image/gif 1 1\n"), (Samples.webP, "image/webp 1 1\n"),
      (Samples.halves(width: 7, height: 3), "image/png 7 3\n")
    ])
  func probe(_ source: [UInt8], _ answer: String) {
    let run = Program.run(["--probe"], input: source)
    #expect(run.exitCode == 0)
    #expect(String(decoding: run.output, as: UTF8.self) == answer)
    #expect(Program.run(["8", "8", "scale"], input: source).exitCode == 0)
  }

  @Test(
    "refuses a command line that is not one of its two forms",
    arguments: [
      [], ["--help"], ["10", "10"], ["10", "10", "fill"], ["0", "10", "crop"], ["10", "-1", "crop"],
      ["4097", "1", "scale"],
      ["1", "4097", "scale"], ["x", "1", "scale"], ["10", "10", "scale", "more"],
      ["10", "10", "animated"], ["10", "10", "scale", "animated", "more"]
    ])
  func usage(_ arguments: [String]) {
    let run = Program.run(arguments, input: Samples.gif)
    #expect(run.exitCode == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("usage:"))
  }

  struct Moving {
    let box: (Int, Int)
    let method: String
    let result: (Int, Int)
  }

  @Test(
    "keeps every frame where it may move, and is still where it may not",
    arguments: [
      Moving(box: (10, 10), method: "scale", result: (10, 5)),
      Moving(box: (10, 10), method: "crop", result: (10, 10)),
      Moving(box: (8, 10), method: "crop", result: (8, 10)),
      Moving(box: (100, 100), method: "scale", result: (40, 20)),
      Moving(box: (100, 100), method: "crop", result: (20, 20))
    ])
  func animation(_ sample: Moving) {
    let source = Samples.animatedGIF(width: 40, height: 20, frames: 3)
    let size = ["\(sample.box.0)", "\(sample.box.1)", sample.method]
    let moving = Program.run(size + ["animated"], input: source)
    #expect(moving.exitCode == 0)
    #expect(
      moving.answer.words
        == [
          "image/webp", "\(sample.result.0)", "\(sample.result.1)", "\(moving.answer.body.count)", "40", "20", "3", "image/gif"
        ])
    // What was made is an animation of as many frames itself.
    #expect(Program.run(["4", "4", "scale"], input: moving.answer.body).answer.words[6] == "3")
    let still = Program.run(size, input: source)
    #expect(still.answer.words.first != "image/webp")
    #expect(still.answer.words[6] == "3")
    #expect(Program.run(["4", "4", "scale"], input: still.answer.body).answer.words[6] == "1")
  }

  @Test("knows an animated PNG, of which it can only make a still image")
  func animatedPNG() {
    let source = Samples.withAnimationChunk(Samples.halves(width: 40, height: 20))
    let run = Program.run(["10", "10", "scale", "animated"], input: source)
    #expect(run.exitCode == 0)
    #expect(run.answer.words[6] == "2")
    #expect(run.answer.words.first == "image/jpeg")
  }

  /// libvips looks for its plug-ins beside the path that it was loaded by: a link to it elsewhere has none.
  @Test(
    "says that a type is unsupported if libvips has no plug-in for it",
    arguments: ["blue-left-red-right.avif", "blue-left-red-right.heic", "blue-left-red-right.bmp"])
  func withoutPlugin(_ name: String) throws {
    #expect(martlet_vips_start("ThumbnailTests") == 0)
    let library = String(cString: try #require(clinux_library_path(martlet_vips_address())))
    let folder = try TemporaryFolder()
    let link = "\(folder.path)/\(library.split(separator: "/").last ?? "")"
    #expect(symlink(library, link) == 0)
    let variables = ["LD_LIBRARY_PATH=\(folder.path)"]
    for arguments in [["--probe"], ["8", "8", "crop"]] {
      let run = Program.run(arguments, input: Samples.picture(name), variables: variables)
      #expect(run.exitCode == 3 && run.output.isEmpty, "\(run.errors)")
    }
    let jpeg = Program.run(["8", "8", "crop"], input: Samples.jpeg(width: 64, height: 64), variables: variables)
    #expect(jpeg.exitCode == 0, "\(jpeg.errors)")
  }

  /// All are 64 by 32 pixels, blue on the left and red on the right. One has an EXIF orientation of 6, which a HEIC's readers ignore.
  @Test(
    "makes a JPEG with the right orientation of pictures of phones",
    arguments: [
      ("blue-left-red-right.avif", "image/avif"), ("blue-left-red-right.heic", "image/heic"),
      ("exif-6-in-container-ignored.heic", "image/heic"), ("blue-left-red-right.bmp", "image/bmp"),
      ("blue-left-red-right.tiff", "image/tiff")
    ])
  func phones(_ name: String, _ type: String) throws {
    let source = Samples.picture(name)
    #expect(!source.isEmpty)
    #expect(String(decoding: Program.run(["--probe"], input: source).output, as: UTF8.self) == "\(type) 64 32\n")
    for (method, size) in [("scale", ["32", "16"]), ("crop", ["32", "32"])] {
      let run = Program.run(["32", "32", method], input: source)
      #expect(run.exitCode == 0, "\(run.errors)")
      let (words, body) = run.answer
      #expect(words == ["image/jpeg"] + size + ["\(body.count)", "64", "32", "1", type])
      let pixels = try #require(Pixels(body))
      let middle = pixels.height / 2
      #expect(pixels[2, middle].isBlue && pixels[29, middle].isRed, "\(pixels[2, middle]), \(pixels[29, middle])")
    }
  }
}
