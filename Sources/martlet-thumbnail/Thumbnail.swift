import CVips

/// A reduced image, encoded anew: no metadata of the source is in it.
struct Thumbnail {
  let type: String
  let width: Int
  let height: Int
  let bytes: [UInt8]

  private static let jpegQuality: Int32 = 82
  private static let webPQuality: Int32 = 70

  /// What is asked for.
  struct Box {
    let width: Int
    let height: Int
    let method: Command.Method
  }

  /// Never larger than the source: a source smaller than the box keeps its size (`scale`) or is only cut to the box's
  /// shape (`crop`). Throws `broken` when the pixels cannot be decoded to the end.
  init(of source: SourceImage, _ box: Box) throws(ExitCode) {
    let box = Self.shrunk(box, to: source)
    let reduced = try Self.produced { result in
      source.bytes.withUnsafeBytes {
        martlet_vips_thumbnail(
          $0.baseAddress, $0.count, result, Int32(box.width), Int32(box.height), box.method == .crop ? 1 : 0,
          source.isTurnedByEXIF ? 1 : 0)
      }
    }
    defer { martlet_vips_release(reduced) }
    let pixels = try Self.produced { martlet_vips_eight_bit_sRGB(reduced, $0) }
    defer { martlet_vips_release(pixels) }
    let isTransparent = vips_image_hasalpha(pixels) != 0
    bytes = try Self.encoded { buffer, count in
      isTransparent
        ? martlet_vips_save_png(pixels, buffer, count)
        : martlet_vips_save_jpeg(pixels, buffer, count, Self.jpegQuality)
    }
    type = isTransparent ? "image/png" : "image/jpeg"
    width = Int(vips_image_get_width(pixels))
    height = Int(vips_image_get_height(pixels))
  }

  /// The same with all frames of an animation. Throws `broken` when one of them cannot be decoded.
  init(animated source: SourceImage, _ box: Box) throws(ExitCode) {
    let box = Self.shrunk(box, to: source)
    let fitted = box.method == .crop ? Self.covering(box, source) : box
    let reduced = try Self.produced { result in
      source.bytes.withUnsafeBytes {
        martlet_vips_animated_thumbnail($0.baseAddress, $0.count, result, Int32(fitted.width), Int32(fitted.height))
      }
    }
    defer { martlet_vips_release(reduced) }
    width = min(Int(vips_image_get_width(reduced)), box.width)
    height = min(Int(vips_image_get_page_height(reduced)), box.height)
    let (width, height) = (Int32(width), Int32(height))
    let frames = try Self.produced { martlet_vips_crop_frames(reduced, $0, width, height) }
    defer { martlet_vips_release(frames) }
    bytes = try Self.encoded { martlet_vips_save_webp(frames, $0, $1, Self.webPQuality) }
    type = "image/webp"
  }

  /// For `crop`, the box shrunk in its own shape until the source covers it.
  private static func shrunk(_ box: Box, to source: SourceImage) -> Box {
    guard box.method == .crop, source.width < box.width || source.height < box.height else { return box }
    if source.width * box.height <= source.height * box.width {
      return Box(width: source.width, height: max(1, source.width * box.height / box.width), method: .crop)
    }
    return Box(width: max(1, source.height * box.width / box.height), height: source.height, method: .crop)
  }

  /// The smallest size in the source's shape that covers the box.
  private static func covering(_ box: Box, _ source: SourceImage) -> Box {
    if source.width * box.height <= source.height * box.width {
      let height = (source.height * box.width + source.width - 1) / source.width
      return Box(width: box.width, height: height, method: .scale)
    }
    let width = (source.width * box.height + source.height - 1) / source.height
    return Box(width: width, height: box.height, method: .scale)
  }

  private static func produced(
    by operation: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32
  ) throws(ExitCode) -> UnsafeMutablePointer<VipsImage> {
    var result: UnsafeMutablePointer<VipsImage>?
    guard operation(&result) == 0, let result else { throw .broken }
    return result
  }

  private static func encoded(
    by operation: (UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> Int32
  ) throws(ExitCode) -> [UInt8] {
    var buffer: UnsafeMutableRawPointer?
    var count = 0
    guard operation(&buffer, &count) == 0, let buffer else { throw .broken }
    defer { g_free(buffer) }
    return [UInt8](UnsafeRawBufferPointer(start: buffer, count: count))
  }
}
