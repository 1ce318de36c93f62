import CLinux
import EventLoop
import Glibc
import MatrixModel
import ServerCore

/// Runs `martlet-thumbnail`: hostile images are decoded in a process of their own with limits on everything.
struct Thumbnailer: Sendable {
  struct Thumbnail: Sendable {
    let kind: ThumbnailKind
    let bytes: [UInt8]
  }

  /// Bytes of a thumbnail; the program makes smaller ones by far.
  private static let bytesLimit = 16 << 20

  /// Programs at once.
  private static let places = 2

  private let program: String
  private let pool: BlockingPool
  private let queue = FairQueue(places: Self.places, ownerLimit: 64, limit: 1_024)

  init(program: String) throws {
    self.program = program
    pool = try BlockingPool(threads: Self.places, name: "thumbnail")
  }

  func shutdown() async { await pool.shutdown() }

  /// The types of images that every client can show as they are.
  private static let shownAsIs = ["image/jpeg", "image/png", "image/gif", "image/webp"]

  /// nil if the image itself will do: every client can show its type, it is not larger than asked for, and moves only if it may.
  ///
  /// - Parameter owner: who asks; each gets a turn.
  /// Throws `M_UNKNOWN` (400), `M_TOO_LARGE`, `M_LIMIT_EXCEEDED`.
  func thumbnail(of path: String, _ variant: ThumbnailVariant, for owner: String) async throws -> Thumbnail? {
    let size = variant.size
    let arguments =
      ["\(size.width)", "\(size.height)", size.isCrop ? "crop" : "scale"] + (variant.isAnimated ? ["animated"] : [])
    let output = try await run(arguments, input: path, for: owner)
    guard let end = output.firstIndex(of: UInt8(ascii: "\n")) else { throw ThumbnailerError(program: program) }
    let words = Self.words(output[..<end])
    guard words.count == 8, let kind = Self.kind(words[0]), let sourceWidth = Int(words[4]), let sourceHeight = Int(words[5]),
      let sourceFrames = Int(words[6])
    else { throw ThumbnailerError(program: program) }
    let isShownAsIs = Self.shownAsIs.contains(words[7])
    if isShownAsIs, sourceWidth <= size.width, sourceHeight <= size.height, variant.isAnimated || sourceFrames == 1 {
      return nil
    }
    return Thumbnail(kind: kind, bytes: Array(output[(end + 1)...]))
  }

  /// What the bytes themselves say of an image. Throws as `thumbnail` does.
  func probe(_ path: String, for owner: String) async throws -> ImageHeader {
    let words = Self.words(try await run(["--probe"], input: path, for: owner).prefix { $0 != UInt8(ascii: "\n") })
    guard words.count == 3, let width = Int(words[1]), let height = Int(words[2]) else {
      throw ThumbnailerError(program: program)
    }
    return ImageHeader(contentType: words[0], width: width, height: height)
  }

  private func run(_ arguments: [String], input path: String, for owner: String) async throws -> [UInt8] {
    let (status, output) = try await queue.run(for: owner) {
      try await pool.run { [program] in try Self.run(program, arguments, input: path) }
    }
    switch status {
    case 0: return output
    case 4: throw MatrixError.tooLarge("The image is too large for a thumbnail.")
    case 3: throw MatrixError.unknown(status: 400, "This server cannot make thumbnails of this type of file.")
    case 5: throw MatrixError.unknown(status: 400, "The image is damaged; no thumbnail can be made of it.")
    default: throw MatrixError.tooLarge("The image takes more time or memory than a thumbnail may.")
    }
  }

  private static func words(_ line: ArraySlice<UInt8>) -> [String] {
    line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func kind(_ contentType: String) -> ThumbnailKind? {
    contentType.split(separator: "/").last.flatMap { ThumbnailKind(rawValue: String($0)) }
  }

  /// The exit status (-1 for a death by signal) and what came on standard output. Blocks until the program has ended; it
  /// limits its own time.
  private static func run(_ program: String, _ arguments: [String], input: String) throws -> (Int32, [UInt8]) {
    let source = open(input, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw MediaFileError(input) }
    defer { close(source) }
    var ends: [Int32] = [0, 0]
    guard clinux_pipe(&ends) == 0 else { throw MediaFileError("pipe") }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, source, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var argv = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for argument in argv { free(argument) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var child = pid_t()
    let result = posix_spawn(&child, program, &actions, nil, &argv, &environment)
    close(ends[1])
    guard result == 0 else {
      errno = result
      throw MediaFileError(program)
    }
    let output = read(ends[0])
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return (status & 0x7F == 0 ? (status >> 8) & 0xFF : -1, output)
  }

  private static func read(_ descriptor: Int32) -> [UInt8] {
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while output.count < bytesLimit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      output.append(contentsOf: buffer[..<count])
    }
    return output
  }
}

/// What an image is, as its first bytes say.
struct ImageHeader: Sendable {
  let contentType: String
  /// Pixels, as a viewer sees them.
  let width: Int
  let height: Int
}

/// The thumbnail program answered in a form that is not its own.
struct ThumbnailerError: Error, CustomStringConvertible {
  let program: String

  var description: String { "\(program) did not answer as a thumbnail program of this version does" }
}
