import CVips

/// A reduced image, encoded anew: no metadata of the source is in it.
struct Thumbnail {
  let type: String
  let width: Int
  let height: Int
  let bytes: [UInt8]

  private static let jpegQuality: Int32 = 82

  /// Never larger than the source: a source smaller than the box keeps its size (`scale`) or is only cut to the box's
  /// shape (`crop`). Throws `broken` when the pixels cannot be decoded to the end.
  init(of source: SourceImage, width: Int, height: Int, method: Command.Method) throws(ExitCode) {
    let box = Self.box(width: width, height: height, method: method, source: source)
    let reduced = try Self.produced { result in
      source.bytes.withUnsafeBytes {
        martlet_vips_thumbnail($0.baseAddress, $0.count, result, box.width, box.height, method == .crop ? 1 : 0)
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
    self.width = Int(vips_image_get_width(pixels))
    self.height = Int(vips_image_get_height(pixels))
  }

  /// For `crop`, the box shrunk in its own shape until the source covers it.
  private static func box(
    width: Int, height: Int, method: Command.Method, source: SourceImage
  ) -> (width: Int32, height: Int32) {
    guard method == .crop, source.width < width || source.height < height else { return (Int32(width), Int32(height)) }
    if source.width * height <= source.height * width {
      return (Int32(source.width), Int32(max(1, source.width * height / width)))
    }
    return (Int32(max(1, source.height * width / height)), Int32(source.height))
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
