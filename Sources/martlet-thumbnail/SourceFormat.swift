import CLinux
import CVips

/// A type of image that the program decodes. The first bytes say which; no other type is opened.
enum SourceFormat {
  case jpeg, png, gif, webP, tiff, bmp
  /// Pictures of phones: containers of ISO 23008-12 with HEVC or AV1.
  case heic, avif

  init?(_ bytes: [UInt8]) {
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      bytes.dropFirst(offset).starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      self = .png
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("RIFF"), has("WEBP", at: 8) {
      self = .webP
    } else if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) {
      self = .tiff
    } else if has("BM"), bytes.count >= 26 {
      self = .bmp
    } else if has("ftyp", at: 4), let brand = Self.brand(bytes) {
      self = brand
    } else {
      return nil
    }
  }

  var type: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .gif: "image/gif"
    case .webP: "image/webp"
    case .tiff: "image/tiff"
    case .bmp: "image/bmp"
    case .heic: "image/heic"
    case .avif: "image/avif"
    }
  }

  /// Whether viewers show the pictures of one file one after the other. Those of a TIFF or HEIC are pages and bursts.
  var hasFrames: Bool { self == .gif || self == .webP }

  /// Whether the EXIF orientation turns the picture. HEIC and AVIF turn by their container alone. ISO 23008-12, A.2.1.
  var isTurnedByEXIF: Bool { codec == nil }

  /// The most pixels that are decoded.
  var pixelsLimit: Int64 { self == .bmp ? Limits.bitmapPixels : Limits.pixels }

  /// Lets libvips decode this type and no other. Returns false if this system's libvips cannot.
  func permit() -> Bool {
    if let plugin, let library = clinux_library_path(martlet_vips_address()) {
      // The decoder of AV1 starts a thread for each processor: a machine with many would not have enough address space.
      guard clinux_confine_to_one_processor() == 0 else { return false }
      _ = martlet_vips_load_module(library, plugin)
    }
    // After a plug-in is loaded: its classes come unblocked.
    vips_operation_block_set("VipsForeignLoad", 1)
    guard vips_type_find("VipsOperation", loader) != 0 else { return false }
    vips_operation_block_set(loader, 0)
    return true
  }

  /// The class of libvips.
  private var loader: String {
    switch self {
    case .jpeg: "VipsForeignLoadJpegBuffer"
    case .png: "VipsForeignLoadPngBuffer"
    case .gif: "VipsForeignLoadNsgifBuffer"
    case .webP: "VipsForeignLoadWebpBuffer"
    case .tiff: "VipsForeignLoadTiffBuffer"
    case .bmp: "VipsForeignLoadMagickBuffer"
    case .heic, .avif: "VipsForeignLoadHeifBuffer"
    }
  }

  /// Whether libheif is there and has no decoder for this type: some systems have the decoders in packages of their own.
  var lacksDecoder: Bool { codec.map { martlet_heif_lacks_decoder($0) != 0 } ?? false }

  /// The codec by libheif's number; nil if libheif does not read this type.
  private var codec: Int32? {
    switch self {
    case .heic: 1
    case .avif: 4
    case .jpeg, .png, .gif, .webP, .tiff, .bmp: nil
    }
  }

  /// The plug-in of libvips that Debian has the format in. The one for BMP is ImageMagick, which reads many other formats. It is
  /// loaded only for bytes that begin as a BMP, and it chooses its reader by the same bytes.
  private var plugin: String? {
    switch self {
    case .heic, .avif: "vips-heif"
    case .bmp: "vips-magick"
    case .jpeg, .png, .gif, .webP, .tiff: nil
    }
  }

  /// By the brands of the box `ftyp`, the major one first. ISO 14496-12, 4.3.
  private static func brand(_ bytes: [UInt8]) -> SourceFormat? {
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let end = min(length, bytes.count, 256)
    for start in stride(from: 8, to: end - 3, by: 4) where start != 12 {
      switch String(decoding: bytes[start..<start + 4], as: UTF8.self) {
      case "avif", "avis": return .avif
      case "heic", "heix", "heim", "heis", "hevc", "hevx": return .heic
      default: continue
      }
    }
    return nil
  }
}
