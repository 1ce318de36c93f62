extension Response {
  /// A file as the answer to GET or HEAD: all of it, the part a Range field asks for (206, 416), or 304 when the client
  /// has this version.
  ///
  /// - Parameters:
  ///   - entityTag: with its quotes, strong; nil leaves out everything that needs one.
  ///   - headers: Content-Type and whatever else goes with it.
  package static func file(
    _ file: OpenFile, for request: Request, entityTag: String?, headers: ResponseHeaders
  ) -> Response {
    var (response, range) = part(of: file.size, for: request, entityTag: entityTag, headers: headers)
    if let range { response.body = .file(file, range: range) }
    return response
  }

  /// As `file`, without the bytes.
  ///
  /// - Parameter size: bytes that there are.
  /// Returns the response, whose body is left to the caller, and what it has; nil for a response that is complete.
  package static func part(
    of size: Int64, for request: Request, entityTag: String?, headers: ResponseHeaders
  ) -> (response: Response, range: Range<Int64>?) {
    var response = Response(headers: headers)
    response.headers.add("Accept-Ranges", "bytes")
    if let entityTag {
      response.headers.add("ETag", entityTag)
      if isCurrent(entityTag, request) {
        response.status = .notModified
        return (response, nil)
      }
    }
    guard request.method == .get, let range = request.headers.first("Range"), rangeStillApplies(entityTag, request) else {
      return (response, 0..<size)
    }
    switch ByteRange.parse(range, size: size) {
    case .whole:
      return (response, 0..<size)
    case .part(let part):
      response.status = .partialContent
      response.headers.add("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
      return (response, part)
    case .unsatisfiable:
      return (Response(status: .rangeNotSatisfiable, headers: ["Content-Range": "bytes */\(size)"]), nil)
    }
  }

  /// If-None-Match compares weakly. RFC 9110 §13.1.2.
  private static func isCurrent(_ entityTag: String, _ request: Request) -> Bool {
    for line in request.headers.all("If-None-Match") {
      for candidate in ASCII.list(Array(line.utf8)[...]) {
        let strong = candidate.starts(with: "W/".utf8) ? candidate.dropFirst(2) : candidate
        if strong.elementsEqual(entityTag.utf8) || strong.elementsEqual("*".utf8) { return true }
      }
    }
    return false
  }

  /// If-Range compares strongly; a date in it never equals a tag, and the whole is sent. RFC 9110 §13.1.5.
  private static func rangeStillApplies(_ entityTag: String?, _ request: Request) -> Bool {
    guard let condition = request.headers.first("If-Range") else { return true }
    guard let entityTag else { return false }
    return condition.elementsEqual(entityTag.utf8)
  }
}
