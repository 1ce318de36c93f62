import CCurl
import Glibc

/// Reads a part of a file for libcurl, from its beginning again if a request has to be sent once more. Used on one thread.
final class FileSource {
  private let descriptor: Int32
  private let range: Range<Int64>
  private var offset: Int64

  /// nil if the file cannot be opened.
  init?(_ file: OutgoingFile) {
    descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    (range, offset) = (file.range, file.range.lowerBound)
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// This object has to stay until the transfer has ended.
  func give(to easy: UnsafeMutableRawPointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    martlet_curl_set_pointer(easy, CURLOPT_READDATA, context)
    martlet_curl_set_reader(easy) { bytes, size, count, context in
      guard let bytes, let context else { return Int(CURL_READFUNC_ABORT) }
      return Unmanaged<FileSource>.fromOpaque(context).takeUnretainedValue().read(into: bytes, size * count)
    }
    martlet_curl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    martlet_curl_set_seeker(easy) { context, offset, origin in
      guard let context, origin == SEEK_SET else { return 1 }
      return Unmanaged<FileSource>.fromOpaque(context).takeUnretainedValue().seek(to: Int64(offset)) ? 0 : 1
    }
  }

  private func read(into bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
    let wanted = min(count, Int(range.upperBound - offset))
    guard wanted > 0 else { return 0 }
    var read = pread(descriptor, bytes, wanted, off_t(offset))
    while read < 0, errno == EINTR { read = pread(descriptor, bytes, wanted, off_t(offset)) }
    // A file that ends early would leave the server waiting for the rest.
    guard read > 0 else { return Int(CURL_READFUNC_ABORT) }
    offset += Int64(read)
    return read
  }

  private func seek(to count: Int64) -> Bool {
    guard count >= 0, count <= Int64(range.count) else { return false }
    offset = range.lowerBound + count
    return true
  }
}
