import Glibc
import Testing

@testable import CallServer

/// With the system's own shell and FFmpeg as programs that do what they should not.
@Suite(.enabled(if: ChildProgram.lack == nil, "this system confines no programs"))
struct ChildProgramTests {
  /// A folder with two files, and another one beside it.
  private struct World: ~Copyable {
    let directory: String
    let folder: String

    init() throws {
      var template = Array("/tmp/martlet-child-XXXXXX".utf8CString)
      directory = String(cString: mkdtemp(&template))
      folder = directory + "/folder"
      mkdir(folder, 0o700)
      for path in [folder + "/own", folder + "/given", directory + "/foreign"] {
        var file = try RecordingFile(creating: path)
        try file.append(Array("first\n".utf8))
      }
    }

    deinit {
      for path in ["/folder/own", "/folder/given", "/folder/new", "/foreign"] { unlink(directory + path) }
      rmdir(folder)
      rmdir(directory)
    }

    /// How a line of the shell ends, and what it says.
    func shell(_ line: String) throws -> (end: ChildProgram.End, output: String) { try run("/bin/sh", ["-c", line]) }

    func run(_ program: String, _ arguments: [String]) throws -> (end: ChildProgram.End, output: String) {
      var output = ""
      let end = try ChildProgram(
        path: program, arguments: arguments, folder: folder, writable: ["given", "missing"], timeLimitSeconds: 60
      )
      .run(isWanted: { true }, line: { output += $0 })
      return (end, output)
    }

    func text(_ name: String) -> String {
      guard let file = RecordingFile(reading: directory + name) else { return "none" }
      return String(decoding: file.read(at: 0, count: 100), as: UTF8.self)
    }
  }

  // Proves M47
  @Test func `it reads what lies in its folder, and no other file`() throws {
    let world = try World()
    let own = try world.shell("read line < own && echo \"$line\"")
    #expect(own.end == .exit(0) && own.output == "first")
    for path in ["../foreign", world.directory + "/foreign", "/etc/passwd", "/proc/1/cmdline", "/proc/self/../1/environ", "/"] {
      let read = try world.shell(
        "read line < \(path) && echo read; for file in \(path)/*; do [ -e \"$file\" ] && echo seen; done; true")
      #expect(read.output == "", "\(path): \(read.output)")
    }
  }

  // Proves M47
  @Test func `it writes the files that it was given, and makes, changes and removes no other`() throws {
    let world = try World()
    #expect(try world.shell("echo second > given").end == .exit(0))
    #expect(world.text("/folder/given") == "second\n")
    for line in ["echo x > own", "echo x > new", "echo x > missing", "echo x > ../foreign", "echo x > /tmp/martlet-child-x"] {
      #expect(try world.shell(line).end != .exit(0), "\(line)")
    }
    #expect(
      world.text("/folder/own") == "first\n" && world.text("/foreign") == "first\n" && world.text("/folder/new") == "none")
    for tool in ["/bin/rm -f own", "/bin/ln own new", "/bin/mv own new", "/bin/mkdir new", "/bin/chmod 777 own"] {
      _ = try world.shell(tool)
    }
    #expect(world.text("/folder/own") == "first\n" && world.text("/folder/new") == "none")
  }

  // Proves M47
  @Test func `it signals nobody, and leaves no core`() throws {
    let world = try World()
    #expect(try world.shell("kill -0 $$").end != .exit(0))
    #expect(try world.shell("kill -0 \(getpid())").end != .exit(0))
    #expect(try world.shell("ulimit -c; exit 0").output == "0")
  }

  // Proves M47
  @Test func `it opens no socket`() throws {
    let world = try World()
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 5) == 0 && getsockname(listener, address, &length) == 0
      }
    }
    try #require(isListening)
    let program = try #require(ChildProgram.find("ffmpeg"))
    let url = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))?timeout=1000000"
    #expect(try world.run(program, ["-nostdin", "-v", "error", "-f", "mpegts", "-i", url, "-f", "null", "-"]).end != .exit(0))
    var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 0) == 0, "somebody has connected")
  }

  @Test func `a program that is not there is an error, with its number`() throws {
    let world = try World()
    let error = #expect(throws: RecordingFileError.self) { try world.run("/nonexistent/program", []) }
    #expect(error?.code == ENOENT)
  }
}
