import Glibc

/// Attacks one target, or replays its kept inputs.
enum FuzzProgram {
  private static let usage = """
    Usage: fuzz --list                                the names of the targets
           fuzz TARGET --replay FOLDER                runs every file of the folder once
           fuzz TARGET --seconds N [--corpus FOLDER]… mutates inputs, guided by coverage; new ones go to the first folder, and an
                                                      input that crashes is left in the working directory as crash-…
    The last needs a build with instrumentation: Scripts/fuzz makes one.

    """

  static func run(_ arguments: [String]) -> Int32 {
    if arguments == ["--list"] {
      for target in FuzzTarget.all { print(target.name) }
      return 0
    }
    guard let target = FuzzTarget.all.first(where: { $0.name == arguments.first }), arguments.count >= 3 else {
      print(usage, terminator: "")
      return 64
    }
    let corpus = arguments.indices.dropFirst().filter { arguments[$0 - 1] == "--corpus" }.map { arguments[$0] }
    switch arguments[1] {
    case "--replay": return replay(target, folder: arguments[2])
    case "--seconds": return explore(target, seconds: arguments[2], corpus: corpus)
    default:
      print(usage, terminator: "")
      return 64
    }
  }

  private static func replay(_ target: FuzzTarget, folder: String) -> Int32 {
    guard let files = opendir(folder) else {
      print("fuzz: \(folder) cannot be read")
      return 1
    }
    defer { closedir(files) }
    var count = 0
    while let entry = readdir(files) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let bytes = contents(of: "\(folder)/\(name)") else { continue }
      bytes.withUnsafeBytes(target.body)
      count += 1
    }
    print("\(target.name): \(count) kept inputs replayed")
    return count > 0 ? 0 : 1
  }

  /// The bytes of a plain file; nil for anything else.
  private static func contents(of path: String) -> [UInt8]? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }

  private static func explore(_ target: FuzzTarget, seconds: String, corpus: [String]) -> Int32 {
    #if FUZZING
      LibFuzzer.run(target, seconds: seconds, corpus: corpus)
    #else
      print("fuzz: this build is not instrumented; Scripts/fuzz makes one that is")
      return 64
    #endif
  }
}
