import Glibc
import Testing

@Suite("martlet-thumbnail and hostile images")
struct HostileImageTests {
  @Test(
    "does not open documents, vector images or formats outside its list",
    arguments: [
      Samples.scalableVector, Samples.portableDocument, Samples.portablePixmap, [], [0xFF], Array("hello".utf8),
      Array("push graphic-context\nviewbox 0 0 1 1\n".utf8), Array("BM".utf8),
      [0, 0, 0, 20] + Array("ftypisom".utf8) + [0, 0, 0, 0] + Array("mp42".utf8)
    ])
  func unsupported(_ source: [UInt8]) {
    for arguments in [["--probe"], ["8", "8", "crop"]] {
      let run = Program.run(arguments, input: source)
      #expect(run.exitCode == 3)
      #expect(run.output.isEmpty)
    }
  }

  @Test("decodes fifty million pixels and refuses more from the header alone")
  func pixelLimit() {
    let permitted = Program.run(["100", "100", "scale"], input: PNG.black(width: 10_000, height: 5_000))
    #expect(permitted.exitCode == 0)
    #expect(permitted.answer.words[1...2] == ["100", "50"])
    for (width, height) in [(10_000, 5_001), (50_001, 1_000), (1_000_000, 1_000_000)] {
      let refused = Program.run(["100", "100", "scale"], input: PNG.headerOnly(width: width, height: height))
      #expect(refused.exitCode == 4)
      #expect(refused.output.isEmpty)
    }
  }

  @Test("reads 128 MiB and not one byte more")
  func inputLimit() {
    let image = Samples.halves(width: 4, height: 4)
    let limit = 128 << 20
    let padding = [UInt8](repeating: 0, count: limit - image.count)
    #expect(Program.run(["--probe"], input: image + padding).exitCode == 0)
    #expect(Program.run(["--probe"], input: image + padding + [0]).exitCode == 4)
  }

  @Test("calls an image cut short anywhere broken or unsupported")
  func truncation() {
    let jpeg = Samples.jpeg(width: 64, height: 64)
    let png = Samples.halves(width: 8, height: 8)
    let phones = ["avif", "heic", "tiff"].map { Samples.picture("blue-left-red-right.\($0)") }
    for source in [jpeg, png] + phones {
      for count in stride(from: 1, to: source.count - 14, by: 19) {
        let run = Program.run(["8", "8", "scale"], input: Array(source[..<count]))
        #expect([3, 5].contains(run.exitCode), "cut at \(count) of \(source.count): \(run.errors)")
        #expect(run.output.isEmpty)
      }
    }
  }

  @Test("has bound its own hands by the time it reads")
  func confinement() {
    var limits = ""
    var status = ""
    let run = Program.run(["--probe"], input: [UInt8](repeating: 0, count: 1 << 20)) { process in
      limits = text(ofFile: "/proc/\(process)/limits")
      status = text(ofFile: "/proc/\(process)/status")
    }
    #expect(run.exitCode == 3)
    let rows = limits.split(separator: "\n").map { $0.split(separator: " ") }
    for (name, soft, hard) in [
      ("address", "1073741824", "1073741824"), ("cpu", "10", "11"), ("open", "16", "16"), ("file", "0", "0"),
      ("core", "0", "0")
    ] {
      let row = rows.first { $0[1] == name } ?? []
      #expect(row.contains(Substring(soft)) && row.contains(Substring(hard)), "\(name): \(row)")
    }
    #expect(status.contains("NoNewPrivs:\t1"))
  }

  private func text(ofFile path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  @Test(
    "ends with a code, not a signal, when its time or memory is used up",
    arguments: [SIGXCPU, SIGALRM, SIGABRT, SIGSEGV])
  func exhaustion(_ signal: Int32) {
    let run = Program.run(["--probe"], input: [UInt8](repeating: 0, count: 1 << 20)) { kill($0, signal) }
    #expect(run.exitCode == 6)
    #expect(run.output.isEmpty)
  }

  @Test("survives bytes without meaning, also behind a good beginning", arguments: 0..<10)
  func noise(_ seed: UInt64) {
    let noise = Samples.noise(count: 3_000, seed: seed)
    let beginnings: [[UInt8]] = [
      [0xFF, 0xD8, 0xFF], Array(Samples.jpeg(width: 32, height: 32).prefix(300)), Array(Samples.gif.prefix(19)),
      Array(Samples.webP.prefix(20)), Array(Samples.halves(width: 30, height: 30).prefix(41))
    ]
    for beginning in beginnings {
      let run = Program.run(["16", "16", "crop"], input: beginning + noise)
      #expect([0, 3, 4, 5].contains(run.exitCode), "\(run.errors)")
    }
  }
}
