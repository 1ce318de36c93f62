/// How the program ended, for the server that started it. Nothing is on stdout unless the code is `done`; a death by signal
/// (only SIGKILL remains possible) is to be read as `exhausted`.
enum ExitCode: Int32, Error {
  /// stdout carries the header line and, for a thumbnail, the image.
  case done = 0
  /// A call of the system or an output that failed; not the image's fault.
  case systemFailure = 1
  /// The command line is wrong.
  case usage = 2
  /// Not an image of a permitted type (JPEG, PNG, GIF, WebP, TIFF, BMP, HEIC, AVIF), or of one that this system's libvips
  /// cannot read.
  case unsupported = 3
  /// More bytes or more pixels than `Limits` permits; nothing was decoded.
  case tooLarge = 4
  /// A permitted type, but damaged or cut short.
  case broken = 5
  /// Decoding wanted more processor time, wall time or memory than `Limits` permits.
  case exhausted = 6
}
