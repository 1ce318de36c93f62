import JSON
import MatrixModel

/// What a client asks of a thumbnail. Spec: Client-Server API, "Thumbnails".
package struct ThumbnailRequest: Sendable {
  package let width: Int
  package let height: Int
  package let isCrop: Bool
  /// Whether it may move: nil and false get a still image.
  package let isAnimated: Bool

  package init(width: Int, height: Int, isCrop: Bool, isAnimated: Bool = false) {
    self.width = width
    self.height = height
    self.isCrop = isCrop
    self.isAnimated = isAnimated
  }

  /// The smallest variant the server makes that is not smaller, or the largest there is.
  var variant: ThumbnailVariant {
    let size = ThumbnailSize.standard.first { $0.isCrop == isCrop && $0.width >= width && $0.height >= height }
    return ThumbnailVariant(size: size ?? .largest(isCrop: isCrop), isAnimated: isAnimated)
  }
}

/// A thumbnail that the server makes of an image.
struct ThumbnailVariant: Sendable, CustomStringConvertible {
  let size: ThumbnailSize
  let isAnimated: Bool

  static let all = ThumbnailSize.standard.flatMap { size in
    [ThumbnailVariant(size: size, isAnimated: false), ThumbnailVariant(size: size, isAnimated: true)]
  }

  var description: String { "\(size)\(isAnimated ? "a" : "")" }
}

/// A size thumbnails are made in: few, so that a client cannot fill the disk by asking for all.
struct ThumbnailSize: Sendable, CustomStringConvertible {
  let width: Int
  let height: Int
  let isCrop: Bool

  /// The edge that the thumbnail program makes at most, in pixels.
  static let edgeLimit = 4_096

  /// The spec's five, larger ones for screens of today, and the largest.
  static let standard = [
    ThumbnailSize(width: 32, height: 32, isCrop: true), ThumbnailSize(width: 96, height: 96, isCrop: true),
    ThumbnailSize(width: 256, height: 256, isCrop: true), ThumbnailSize(width: 800, height: 800, isCrop: true),
    ThumbnailSize(width: 320, height: 240, isCrop: false), ThumbnailSize(width: 640, height: 480, isCrop: false),
    ThumbnailSize(width: 800, height: 600, isCrop: false), ThumbnailSize(width: 1600, height: 1200, isCrop: false),
    .largest(isCrop: true), .largest(isCrop: false)
  ]

  static func largest(isCrop: Bool) -> ThumbnailSize {
    ThumbnailSize(width: edgeLimit, height: edgeLimit, isCrop: isCrop)
  }

  var description: String { "\(width)x\(height)\(isCrop ? "c" : "s")" }
}

/// What thumbnails are made as.
enum ThumbnailKind: String, Sendable, CaseIterable {
  case jpeg, png, webp

  var contentType: ByteString { ByteString("image/\(rawValue)") }
}
