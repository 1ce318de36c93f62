import EventLoop

/// Serves the files below one directory.
///
/// A name is looked up segment by segment and may not begin with a dot, so no path leads out of the directory; symbolic
/// links are followed, they are the operator's. Where the client takes brotli and `name.br` lies beside `name`, that is sent.
package struct StaticFiles: Sendable {
  private let directory: String
  private let pool: BlockingPool
  private let index: String?
  private let cacheControl: @Sendable (String) -> String

  /// - Parameters:
  ///   - directory: absolute or relative to the working directory; without a slash at the end.
  ///   - index: the file that stands for a path that is empty or ends in a slash; nil for none.
  ///   - cacheControl: the Cache-Control of a path relative to the directory; by default clients ask each time.
  package init(
    directory: String, pool: BlockingPool, index: String? = "index.html",
    cacheControl: @escaping @Sendable (String) -> String = { _ in "no-cache" }
  ) {
    self.directory = directory
    self.pool = pool
    self.index = index
    self.cacheControl = cacheControl
  }

  /// The answer for a path relative to the directory, percent-decoded, as a tail variable gives it; nil when no such file is.
  ///
  /// - Throws: `BlockingPoolError`; `CancellationError`.
  package func response(to request: Request, path: String) async throws -> Response? {
    guard let name = Self.safeName(path, index: index) else { return nil }
    let takesBrotli = Self.accepts("br", request)
    let file = "\(directory)/\(name)"
    let opened = try await pool.run { () -> (file: OpenFile, hasVariant: Bool, isBrotli: Bool)? in
      let compressed = OpenFile(path: file + ".br")
      if takesBrotli, let compressed { return (compressed, true, true) }
      return OpenFile(path: file).map { ($0, compressed != nil, false) }
    }
    guard let opened else { return nil }
    var headers: ResponseHeaders = ["Content-Type": ContentType.of(name), "Cache-Control": cacheControl(name)]
    headers.add("X-Content-Type-Options", "nosniff")
    if opened.hasVariant { headers.add("Vary", "Accept-Encoding") }
    if opened.isBrotli { headers.add("Content-Encoding", "br") }
    return .file(opened.file, for: request, entityTag: Self.entityTag(opened.file, isBrotli: opened.isBrotli), headers: headers)
  }

  /// The name below the directory; nil for what is no plain name: empty segments, dots in front, NUL, backslash.
  static func safeName(_ path: String, index: String?) -> String? {
    var segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    if segments.first?.isEmpty == true, segments.count > 1 { segments.removeFirst() }
    if segments.last?.isEmpty == true {
      guard let index else { return nil }
      segments[segments.count - 1] = Array(index.utf8)
    }
    for segment in segments {
      guard let first = segment.first, first != UInt8(ascii: "."), !segment.contains(0),
        !segment.contains(UInt8(ascii: "\\"))
      else { return nil }
    }
    return segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
  }

  private static func entityTag(_ file: OpenFile, isBrotli: Bool) -> String {
    let parts = [
      UInt64(bitPattern: file.modified), UInt64(bitPattern: file.modifiedNanoseconds), UInt64(bitPattern: file.size), file.inode
    ]
    return "\"\(parts.map { String($0, radix: 36) }.joined(separator: "-"))\(isBrotli ? "-br" : "")\""
  }

  /// Whether Accept-Encoding names the coding with a weight above zero. RFC 9110 §12.5.3.
  static func accepts(_ coding: StaticString, _ request: Request) -> Bool {
    for line in request.headers.all("Accept-Encoding") {
      for entry in ASCII.list(Array(line.utf8)[...]) {
        let parts = entry.split(separator: UInt8(ascii: ";")).map(ASCII.trimmed)
        guard let name = parts.first, ASCII.equal(name, coding) else { continue }
        let isRefused = parts.dropFirst().contains { part in
          part.starts(with: "q=0".utf8) && part.dropFirst(3).allSatisfy { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "0") }
        }
        return !isRefused
      }
    }
    return false
  }
}
