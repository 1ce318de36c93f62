import CVips
import Glibc

/// The separate process that decodes images for the homeserver, so that a hostile image can harm nothing but it.
/// Image on stdin, thumbnail on stdout; `Command.usage` is the protocol, `Limits` the bounds, `ExitCode` the outcome.
enum ThumbnailProgram {
  static func run(arguments: [String]) -> ExitCode {
    guard let command = Command(Array(arguments.dropFirst())) else {
      write(Command.usage, to: 2)
      return .usage
    }
    do throws(ExitCode) {
      try Limits.apply()
      try startVips()
      let source = try SourceImage(SourceImage.read(descriptor: 0))
      try answer(command, about: source)
      return .done
    } catch {
      write("martlet-thumbnail: \(error)\n\(String(cString: vips_error_buffer()))", to: 2)
      return error
    }
  }

  private static func answer(_ command: Command, about source: SourceImage) throws(ExitCode) {
    switch command {
    case .probe:
      guard write("\(source.type) \(source.width) \(source.height)\n", to: 1) else { throw .systemFailure }
    case .thumbnail(let width, let height, let method, let isAnimated):
      let box = Thumbnail.Box(width: width, height: height, method: method)
      let thumbnail =
        isAnimated && source.canStayAnimated
        ? try Thumbnail(animated: source, box) : try Thumbnail(of: source, box)
      let numbers = [
        thumbnail.width, thumbnail.height, thumbnail.bytes.count, source.width, source.height, source.frames
      ]
      let header = "\(thumbnail.type) \(numbers.map(String.init).joined(separator: " ")) \(source.type)\n"
      guard write(Array(header.utf8) + thumbnail.bytes, to: 1) else { throw .systemFailure }
    }
  }

  /// libvips with one worker, nothing on disk and nothing that may be opened; its plug-ins (ImageMagick, PDF, HEIF …) stay
  /// unloaded. `SourceFormat.permit` opens one type.
  private static func startVips() throws(ExitCode) {
    setenv("VIPSHOME", "/nonexistent", 1)
    setenv("VIPS_WARNING", "1", 1)  // means: keep warnings to itself
    setenv("VIPS_DISC_THRESHOLD", "2g", 1)
    setenv("MAGICK_THREAD_LIMIT", "1", 1)
    setenv("MAGICK_DISK_LIMIT", "0", 1)
    setenv("MAGICK_MAP_LIMIT", "0", 1)
    setenv("OMP_NUM_THREADS", "1", 1)
    guard martlet_vips_start("martlet-thumbnail") == 0 else { throw .systemFailure }
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    vips_operation_block_set("VipsForeignLoad", 1)
  }

  @discardableResult
  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    write(Array(text.utf8), to: descriptor)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
