import CVips
import Glibc

/// What an image shows, decoded.
struct Pixels {
  let width: Int
  let height: Int
  private let bytes: [UInt8]

  struct Colour {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    var isRed: Bool { red > 200 && blue < 60 }
    var isBlue: Bool { blue > 200 && red < 120 }
  }

  /// nil for what is not an image of three bands.
  init?(_ image: [UInt8]) {
    guard martlet_vips_start("ThumbnailTests") == 0 else { return nil }
    var decoded: (bytes: [UInt8], width: Int, height: Int)?
    image.withUnsafeBytes { source in
      guard let opened = martlet_vips_open(source.baseAddress, source.count) else { return }
      defer { martlet_vips_release(opened) }
      var count = 0
      guard let memory = vips_image_write_to_memory(opened, &count) else { return }
      defer { g_free(memory) }
      decoded = (
        [UInt8](UnsafeRawBufferPointer(start: memory, count: count)), Int(vips_image_get_width(opened)),
        Int(vips_image_get_height(opened))
      )
    }
    guard let decoded, decoded.bytes.count == decoded.width * decoded.height * 3 else { return nil }
    (bytes, width, height) = decoded
  }

  subscript(x: Int, y: Int) -> Colour {
    let at = (y * width + x) * 3
    return Colour(red: bytes[at], green: bytes[at + 1], blue: bytes[at + 2])
  }
}
