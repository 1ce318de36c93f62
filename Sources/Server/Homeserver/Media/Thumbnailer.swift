import CLinux
import EventLoop
import Glibc
import JSON
import MatrixModel

/// What a client asks of a thumbnail. Spec: Client-Server API, "Thumbnails".
package struct ThumbnailRequest: Sendable {
  package let width: Int
  package let height: Int
  package let isCrop: Bool

  package init(width: Int, height: Int, isCrop: Bool) {
    self.width = width
    self.height = height
    self.isCrop = isCrop
  }

  /// The smallest size the server makes that is not smaller; nil where the original has to do.
  var standardSize: ThumbnailSize? {
    ThumbnailSize.standard.first { $0.isCrop == isCrop && $0.width >= width && $0.height >= height }
  }
}

/// A size thumbnails are made in: few, so that a client cannot fill the disk by asking for all.
package struct ThumbnailSize: Sendable, CustomStringConvertible {
  let width: Int
  let height: Int
  let isCrop: Bool

  /// The spec's five, and larger ones for screens of today.
  static let standard = [
    ThumbnailSize(width: 32, height: 32, isCrop: true), ThumbnailSize(width: 96, height: 96, isCrop: true),
    ThumbnailSize(width: 256, height: 256, isCrop: true), ThumbnailSize(width: 800, height: 800, isCrop: true),
    ThumbnailSize(width: 320, height: 240, isCrop: false), ThumbnailSize(width: 640, height: 480, isCrop: false),
    ThumbnailSize(width: 800, height: 600, isCrop: false), ThumbnailSize(width: 1600, height: 1200, isCrop: false)
  ]

  package var description: String { "\(width)x\(height)\(isCrop ? "c" : "s")" }
}

/// What thumbnails are made as.
package enum ThumbnailKind: String, Sendable, CaseIterable {
  case jpeg, png, webp

  var contentType: ByteString { ByteString("image/\(rawValue)") }
}

/// Runs `martlet-thumbnail`: hostile images are decoded in a process of their own with limits on everything.
struct Thumbnailer: Sendable {
  struct Thumbnail: Sendable {
    let kind: ThumbnailKind
    let bytes: [UInt8]
  }

  /// Bytes of a thumbnail; the program makes smaller ones by far.
  private static let bytesLimit = 16 << 20

  private let program: String
  private let pool: BlockingPool

  init(program: String) throws {
    self.program = program
    pool = try BlockingPool(threads: 2, queueLimit: 256, name: "thumbnail")
  }

  func shutdown() async { await pool.shutdown() }

  /// nil where the image is not larger than `size`. Throws `M_UNKNOWN` (400), `M_TOO_LARGE`.
  func thumbnail(of path: String, _ size: ThumbnailSize) async throws -> Thumbnail? {
    let (status, output) = try await pool.run { [program] in
      try Self.run(program, ["\(size.width)", "\(size.height)", size.isCrop ? "crop" : "scale"], input: path)
    }
    switch status {
    case 0: break
    case 4: throw MatrixError.tooLarge("The image is too large for a thumbnail.")
    case 3, 5: throw MatrixError.unknown(status: 400, "This is no image that a thumbnail can be made of.")
    default: throw MatrixError.tooLarge("The image takes more time or memory than a thumbnail may.")
    }
    guard let end = output.firstIndex(of: UInt8(ascii: "\n")) else { throw ThumbnailerError(program: program) }
    let words = output[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 6, let type = words[0].split(separator: "/").last, let kind = ThumbnailKind(rawValue: String(type)),
      let sourceWidth = Int(words[4]), let sourceHeight = Int(words[5])
    else { throw ThumbnailerError(program: program) }
    if sourceWidth <= size.width, sourceHeight <= size.height { return nil }
    return Thumbnail(kind: kind, bytes: Array(output[(end + 1)...]))
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

/// The thumbnail program answered in a form that is not its own.
struct ThumbnailerError: Error, CustomStringConvertible {
  let program: String

  var description: String { "\(program) did not answer as a thumbnail program of this version does" }
}
