import Testing

@testable import matrix_load

@Suite("matrix-load's command line")
struct CommandLineTests {
  @Test("sets what it names and leaves the rest at its default")
  func values() throws {
    let options = try Options(["send", "--concurrency", "3", "--rate", "0.5", "--pid", "1,22", "--label", "x"])
    #expect(options.scenario == "send")
    #expect(options.concurrency == 3)
    #expect(options.rate == 0.5)
    #expect(options.processes == [1, 22])
    #expect(options.label == "x")
    #expect(options.warmupSeconds == 2)
  }

  @Test(
    "refuses what it does not know",
    arguments: [
      [], ["--rate", "1"], ["send", "--nonsense", "1"], ["send", "--ops"], ["send", "--ops", "x"],
      ["send", "--ops", "-1"],
      ["send", "--rate", "fast"], ["send", "--pid", "1,x"]
    ])
  func refusals(_ arguments: [String]) {
    #expect(throws: Options.Failure.self) { try Options(arguments) }
  }

  @Test(
    "takes loopback addresses", arguments: ["http://127.0.0.1:8008", "http://localhost", "http://127.9.9.9:1/path"])
  func loopback(_ base: String) {
    #expect(Target(base: base, anyAddress: false) != nil)
  }

  @Test("takes another address only when told so", arguments: ["http://192.0.2.1:8008", "http://128.0.0.1"])
  func elsewhere(_ base: String) {
    #expect(Target(base: base, anyAddress: false) == nil)
    #expect(Target(base: base, anyAddress: true) != nil)
  }

  @Test(
    "refuses what is no plain HTTP address",
    arguments: [
      "https://127.0.0.1", "127.0.0.1:80", "http://", "http://127.0.0.1:x", "http://127.0.0.1:99999",
      "http://example.org"
    ])
  func malformed(_ base: String) {
    #expect(Target(base: base, anyAddress: true) == nil)
  }
}
