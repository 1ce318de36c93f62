#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A reader of the output sees the line at once.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

func end(_ message: String, status: CInt) -> Never {
  let line = Array("client-live: \(message)\n".utf8)
  if !message.isEmpty { _ = write(STDERR_FILENO, line, line.count) }
  exit(status)
}
