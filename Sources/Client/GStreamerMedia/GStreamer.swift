import CPeerConnection
import CallClient

enum GStreamer {
  /// Loaded once for the process; the name of what is missing, or nil.
  private static let missing: String? = media_start().map { String(cString: $0) }

  /// - Throws: `unsupported`, naming what is missing.
  static func start() throws(CallError) {
    if let missing {
      throw .unsupported(
        "GStreamer's \(missing) is not installed. Debian has it in gstreamer1.0-plugins-base, -good, -bad, or gstreamer1.0-nice."
      )
    }
  }
}

extension VideoFrame {
  /// Copies what C shows for the time of a call. nil for a size beyond the limits.
  init?(_ picture: media_picture) {
    let (width, height) = (Int(picture.width), Int(picture.height))
    guard (1...VideoFrame.sideLimit).contains(width), (1...VideoFrame.sideLimit).contains(height) else { return nil }
    func plane(_ bytes: UnsafePointer<UInt8>?, _ stride: Int32, _ width: Int, _ height: Int) -> [UInt8] {
      guard let bytes, Int(stride) >= width else { return [] }
      return [UInt8](unsafeUninitializedCapacity: width * height) { plane, count in
        for row in 0..<height {
          plane.baseAddress?.advanced(by: row * width).initialize(from: bytes + row * Int(stride), count: width)
        }
        count = width * height
      }
    }
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    self.init(
      width: width, height: height, timestampMicroseconds: picture.microseconds,
      y: plane(picture.planes.0, picture.strides.0, width, height),
      u: plane(picture.planes.1, picture.strides.1, chromaWidth, chromaHeight),
      v: plane(picture.planes.2, picture.strides.2, chromaWidth, chromaHeight))
  }

  func withPicture(_ body: (media_picture) -> Void) {
    y.withUnsafeBufferPointer { y in
      u.withUnsafeBufferPointer { u in
        v.withUnsafeBufferPointer { v in
          body(
            media_picture(
              planes: (y.baseAddress, u.baseAddress, v.baseAddress),
              strides: (Int32(width), Int32(chromaWidth), Int32(chromaWidth)), width: Int32(width), height: Int32(height),
              microseconds: timestampMicroseconds))
        }
      }
    }
  }
}

extension AudioFrame {
  init?(_ sound: media_sound) {
    guard let samples = sound.samples, sound.count > 0, sound.channels > 0 else { return nil }
    self.init(
      channels: Int(sound.channels),
      samples: Array(UnsafeBufferPointer(start: samples, count: Int(sound.count) * Int(sound.channels))),
      timestampMicroseconds: sound.microseconds)
  }

  func withSound(_ body: (media_sound) -> Void) {
    samples.withUnsafeBufferPointer { samples in
      body(
        media_sound(
          samples: samples.baseAddress, count: Int32(count), channels: Int32(channels), microseconds: timestampMicroseconds))
    }
  }
}
