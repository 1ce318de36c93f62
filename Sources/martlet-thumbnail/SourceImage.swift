import CVips
import Glibc

/// An image as it was uploaded: its bytes and what its header says, not decoded.
struct SourceImage {
  let bytes: [UInt8]
  /// The media type found in the bytes themselves.
  let type: String
  /// Whether the EXIF orientation turns the picture.
  let isTurnedByEXIF: Bool
  /// Pixels as a viewer sees them, after the orientation.
  let width: Int
  let height: Int
  /// Pictures that are shown one after the other; 1 for a still image.
  let frames: Int

  /// Throws `unsupported`, `broken` (the header is damaged) or `tooLarge` (`Limits`).
  init(_ bytes: [UInt8]) throws(ExitCode) {
    guard let format = SourceFormat(bytes), format.permit() else { throw .unsupported }
    let type = format.type
    let loader = bytes.withUnsafeBytes { martlet_vips_loader($0.baseAddress, $0.count) }
    guard loader != nil else { throw .unsupported }
    let image = bytes.withUnsafeBytes { martlet_vips_open($0.baseAddress, $0.count) }
    guard let image else { throw format.lacksDecoder ? .unsupported : .broken }
    defer { martlet_vips_release(image) }
    let width = Int(vips_image_get_width(image))
    let height = Int(vips_image_get_page_height(image))
    let isTurned = format.isTurnedByEXIF && vips_image_get_orientation_swap(image) != 0
    guard width > 0, height > 0 else { throw .broken }
    guard Int64(width) * Int64(height) <= format.pixelsLimit else { throw .tooLarge }
    guard !format.lacksDecoder else { throw .unsupported }
    self.bytes = bytes
    self.type = type
    self.width = isTurned ? height : width
    self.height = isTurned ? width : height
    isTurnedByEXIF = format.isTurnedByEXIF
    frames =
      Self.isAnimatedPNG(bytes, type) ? 2 : format.hasFrames ? max(1, Int(vips_image_get_n_pages(image))) : 1
  }

  /// Whether its thumbnail can have all its frames: a type whose frames are read, and not too many pixels.
  var canStayAnimated: Bool {
    frames > 1 && type != "image/png" && Int64(width) * Int64(height) * Int64(frames) <= Limits.animatedPixels
  }

  /// Whether a PNG has the chunk `acTL`, which stands before the pixels: libvips sees only the first of its pictures.
  /// PNG, third edition, "Animation control chunk".
  private static func isAnimatedPNG(_ bytes: [UInt8], _ type: String) -> Bool {
    guard type == "image/png" else { return false }
    var position = 8
    while position + 8 <= bytes.count {
      let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let name = bytes[position + 4..<position + 8]
      if name.elementsEqual("acTL".utf8) { return true }
      if name.elementsEqual("IDAT".utf8) { return false }
      position += length + 12
    }
    return false
  }

  /// Everything on the descriptor until its end. Throws `tooLarge` past `Limits.inputBytes`.
  static func read(descriptor: Int32) throws(ExitCode) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw .systemFailure
      }
      guard bytes.count + count <= Limits.inputBytes else { throw .tooLarge }
      bytes.append(contentsOf: chunk[..<count])
    }
  }
}
