import CLinux
import Glibc

/// What one thumbnail may cost. The process sets the limits on itself before it reads the first byte of its input.
enum Limits {
  /// Bytes of the source image.
  static let inputBytes = 128 << 20
  /// Width times height of the source, read from its header before anything is decoded.
  static let pixels: Int64 = 50_000_000
  /// The same for a BMP: ImageMagick needs 8 bytes for each pixel, and Debian's policy allows it 256 MiB.
  static let bitmapPixels: Int64 = 30_000_000
  /// `pixels` times the number of frames, for a thumbnail that keeps them; one with more becomes a still image.
  static let animatedPixels: Int64 = 30_000_000
  /// Width or height of the thumbnail asked for, in pixels.
  static let edgePixels = 4096
  static let addressSpaceBytes: UInt64 = 1 << 30
  static let processorSeconds: UInt64 = 10
  /// Against an input that never ends: waiting costs no processor time.
  static let wallSeconds: UInt32 = 30
  static let openFiles: UInt64 = 16

  /// From here on: no new privileges, no files written, no core dumps, bounded memory and time. Ends in `ExitCode.exhausted`,
  /// not in a bare signal, where a bound is met.
  static func apply() throws(ExitCode) {
    let isConfined =
      confine_no_new_privileges() == 0
      && confine_resource(CONFINE_ADDRESS_SPACE_BYTES, addressSpaceBytes, addressSpaceBytes) == 0
      && confine_resource(CONFINE_CPU_SECONDS, processorSeconds, processorSeconds + 1) == 0
      && confine_resource(CONFINE_OPEN_FILES, openFiles, openFiles) == 0
      && confine_resource(CONFINE_FILE_BYTES, 0, 0) == 0
      && confine_resource(CONFINE_CORE_BYTES, 0, 0) == 0
    guard isConfined else { throw .systemFailure }
    // SIGABRT, SIGTRAP: how GLib and Swift end when memory is refused. SIGSEGV, SIGBUS: a decoder's fault.
    for signal in [SIGXCPU, SIGALRM, SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS] {
      Glibc.signal(signal) { _ in _exit(ExitCode.exhausted.rawValue) }
    }
    // The thread that started this process may have had them blocked, and a mask is inherited.
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    // A write to a closed pipe or to a file fails as a write, not as a death.
    for signal in [SIGPIPE, SIGXFSZ] { Glibc.signal(signal, SIG_IGN) }
    alarm(wallSeconds)
  }
}
