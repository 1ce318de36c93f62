/// A QR code of some bytes: byte mode, error correction level M, versions 1 to 20, the mask with the least penalty.
///
/// Source: ISO/IEC 18004:2015. Its steps here, in order: the smallest version that has room (`QRVersion`), the codewords with
/// error correction (`QRCodewords`), the modules (`QRDrawing`), each of eight masks, the one that reads best (`QRPenalty`).
public struct QRCode: Sendable, Equatable {
  /// Bytes that the largest version has room for.
  public static let bytesLimit = 666

  /// Modules of a side, from 21 to 97.
  public let size: Int
  private let modules: [Bool]

  /// nil for more than `bytesLimit` bytes.
  public init?(_ bytes: [UInt8]) {
    guard let version = QRVersion.all.first(where: { $0.byteCapacity >= bytes.count }) else { return nil }
    var drawing = QRDrawing(version)
    drawing.place(QRCodewords.make(of: bytes, version))
    var best = drawing.masked(0)
    var leastPenalty = QRPenalty.of(best, size: version.size)
    for mask in 1..<8 {
      let candidate = drawing.masked(mask)
      let penalty = QRPenalty.of(candidate, size: version.size)
      if penalty < leastPenalty { (best, leastPenalty) = (candidate, penalty) }
    }
    size = version.size
    modules = best
  }

  public init?(_ text: String) { self.init(Array(text.utf8)) }

  /// Whether the module is dark. Everything outside is light.
  public subscript(x: Int, y: Int) -> Bool {
    guard x >= 0, y >= 0, x < size, y < size else { return false }
    return modules[y * size + x]
  }

  /// The light border around a code that readers need, in modules.
  public static var quietModules: Int { 4 }

  /// The dark modules as the `d` of an SVG path, one unit a module, with the quiet border at the left and at the top. The whole
  /// picture has `size + 2 * quietModules` units a side.
  public var path: String {
    let border = Self.quietModules
    var path = ""
    for y in 0..<size {
      var x = 0
      while x < size {
        let start = x
        while self[x, y] { x += 1 }
        if x > start { path += "M\(start + border) \(y + border)h\(x - start)v1H\(start + border)z" }
        x += 1
      }
    }
    return path
  }
}
