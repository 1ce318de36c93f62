import FilesTesting
import Glibc
import Telemetry
import Testing

@testable import martlet

@Suite("Program")
struct ProgramTests {
  @Test("The data folder is made with its parents, for its owner only")
  func makesFolder() throws {
    let folder = try TemporaryFolder()
    let directory = try DataDirectory(folder.path + "/a/b")
    var status = stat()
    #expect(stat(directory.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    withExtendedLifetime(folder) {}
  }

  @Test("A data folder belongs to one at a time")
  func lock() throws {
    let folder = try TemporaryFolder()
    do {
      let first = try DataDirectory(folder.path)
      #expect(throws: StartError.directoryInUse(path: folder.path)) { try DataDirectory(folder.path) }
      withExtendedLifetime(first) {}
    }
    _ = try DataDirectory(folder.path)
    withExtendedLifetime(folder) {}
  }

  @Test("What is no folder or cannot be made is named", arguments: ["/dev/null", "/dev/null/data", "/proc/martlet"])
  func unusableFolder(path: String) {
    let error = #expect(throws: StartError.self) { try DataDirectory(path) }
    #expect(error?.description.contains("data_dir \(path):") == true)
  }

  @Test("Health is 200 only between start and stop")
  func health() {
    let pages = OperationsPages(metrics: Metrics())
    #expect(pages.health().status == 503)
    pages.set(.ok)
    #expect(pages.health().status == 200)
    #expect(pages.health().contentType == "application/json")
    #expect(String(decoding: pages.health().body, as: UTF8.self) == #"{"status":"ok"}"#)
    pages.set(.stopping)
    #expect(pages.health().status == 503)
  }

  @Test("Health is 503 with the reason while a running server cannot do all of its work")
  func trouble() {
    let pages = OperationsPages(metrics: Metrics())
    pages.watch { "The disk is full." }
    #expect(String(decoding: pages.health().body, as: UTF8.self).contains("starting"), "not failing before it has started")
    pages.set(.ok)
    #expect(
      pages.health()
        == PlainAnswer(
          status: 503, contentType: "application/json",
          body: Array(#"{"status":"failing","reason":"The disk is full."}"#.utf8)))
    pages.watch { nil }
    #expect(pages.health().status == 200)
  }

  @Test("The metrics page shows the registry")
  func metrics() {
    let metrics = Metrics()
    metrics.counter("c_total", "A counter").add()
    let page = OperationsPages(metrics: metrics).metricsPage()
    #expect(page.contentType == "text/plain; version=0.0.4; charset=utf-8")
    #expect(page.body == metrics.exposition())
  }

  @Test(
    "--help explains a command or a group, wherever it stands",
    arguments: [
      ("help user add", "martlet user add NAME", 1), ("user add --help", "martlet user add NAME", 1),
      ("user add ann --json --help", "martlet user add NAME", 1), ("user list -h", "martlet user list", 1),
      ("user --help", "martlet user show USER", 10), ("help call", "martlet call key add", 4),
      ("call key -h", "martlet call key remove", 4), ("backup --help", "martlet backup FOLDER", 1),
      ("restore x --help", "martlet restore FOLDER", 1), ("check --data-dir x --help", "martlet check", 1),
      ("serve --help", "--bind, MARTLET_BIND", 1), ("serve -h", "until Ctrl-C", 1), ("config check --help", "config check", 1),
      ("config --help", "config documentation", 2), ("help version", "Prints the version", 1)
    ])
  func help(line: String, expected: String, count: Int) throws {
    let topic = try #require(Program.helpTopic(line.split(separator: " ").map(String.init)))
    let text = try #require(Program.help(for: topic))
    #expect(text.contains(expected))
    #expect(text.split(separator: "\n").count { $0.hasPrefix("martlet ") } == count)
  }

  @Test(
    "A text that looks like a question is a text",
    arguments: ["notice send ann -h", "notice send ann -- --help", "user list"])
  func noHelp(line: String) {
    #expect(Program.helpTopic(line.split(separator: " ").map(String.init)) == nil)
  }

  @Test("Help for all, or for what is not a command")
  func helpTopics() async {
    #expect(Program.helpTopic(["help"]) == [] && Program.helpTopic(["--help"]) == [])
    #expect(Program.help(for: ["nonsense"]) == nil)
    #expect(await Program.run(["martlet", "help", "nonsense"]) == 64)
    #expect(await Program.run(["martlet", "user", "add", "--help"]) == 0)
    #expect(await Program.run(["martlet", "user"]) == 64)
  }

  @Test("A command line that is not understood ends with 64, a bad configuration with 78")
  func statuses() async {
    #expect(await Program.run(["martlet"]) == 64)
    #expect(await Program.run(["martlet", "sreve"]) == 64)
    #expect(await Program.run(["martlet", "user", "add"]) == 64)
    #expect(await Program.run(["martlet", "config", "check", "--bind", "x"]) == 78)
    #expect(await Program.run(["martlet", "serve", "--config", "/no/such.yaml"]) == 78)
    #expect(await Program.run(["martlet", "serve", "--data-dir", "/dev/null"]) == 1)
  }
}
