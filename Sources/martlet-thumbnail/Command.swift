/// What the command line asks for.
enum Command: Equatable {
  case probe
  /// - Parameter isAnimated: whether a source that moves gives a thumbnail that does.
  case thumbnail(width: Int, height: Int, method: Method, isAnimated: Bool)

  /// Spec: Client-Server API, "Thumbnails".
  enum Method: String {
    /// The whole image, fitted into the box.
    case scale
    /// The middle of the image, cut to the box's shape.
    case crop
  }

  static let usage = """
    usage: martlet-thumbnail WIDTH HEIGHT crop|scale [animated] < IMAGE
           martlet-thumbnail --probe < IMAGE
    stdout (a pipe): "TYPE WIDTH HEIGHT BYTES SOURCE-WIDTH SOURCE-HEIGHT SOURCE-FRAMES SOURCE-TYPE" and a newline, then BYTES bytes
                     with --probe: "TYPE WIDTH HEIGHT" and a newline
    exit: 0 done, 1 system failure, 2 usage, 3 unsupported type, 4 too large, 5 broken image, 6 out of time or memory

    """

  /// nil when the arguments (without the program's name) are not one of the forms of `usage`, or an edge is not in
  /// 1...`Limits.edgePixels`.
  init?(_ arguments: [String]) {
    if arguments == ["--probe"] {
      self = .probe
      return
    }
    let isAnimated = arguments.count == 4 && arguments[3] == "animated"
    guard arguments.count == 3 || isAnimated, let width = Int(arguments[0]), let height = Int(arguments[1]),
      let method = Method(rawValue: arguments[2]), (1...Limits.edgePixels).contains(width),
      (1...Limits.edgePixels).contains(height)
    else { return nil }
    self = .thumbnail(width: width, height: height, method: method, isAnimated: isAnimated)
  }
}
