import CLLHTTP

/// The head of a request, checked against RFC 9112 and this server's limits.
struct RequestHead: Sendable {
  var method: Method
  var headers: RequestHeaders
  var isHTTP10: Bool
  /// Whether the connection may carry another request.
  var keepsAlive: Bool
  /// The length of the body in bytes; nil when it comes in chunks.
  var announcedLength: Int64?
  var expectsContinue: Bool
}

/// llhttp with this server's rules on top: bytes in, one message at a time out.
///
/// llhttp keeps the address of its state and calls back into this object while `execute` runs, so both live on the heap;
/// it is left in its strict mode, which refuses what request smuggling is made of.
final class RequestParser {
  enum Outcome: Equatable {
    case needsMore
    /// The message is complete; `consumed` says where the next one begins.
    case complete
    case failed(Status)
  }

  private let parser = UnsafeMutablePointer<llhttp_t>.allocate(capacity: 1)
  private let headerBytesLimit: Int
  private let headerCountLimit: Int

  private var headers = RequestHeaders()
  private var isInValue = false
  private var isHeadComplete = false
  private var trailerBytes = 0
  private var refusal: Status?
  /// Set by a callback when the head is complete; taken by the owner.
  private var head: RequestHead?
  /// The body bytes of the last `execute`.
  private(set) var body: [UInt8] = []

  /// - Parameter headerBytesLimit: at most 65,535.
  init(headerBytesLimit: Int, headerCountLimit: Int) {
    self.headerBytesLimit = min(headerBytesLimit, 65_535)
    self.headerCountLimit = headerCountLimit
    llhttp_init(parser, HTTP_REQUEST, Self.settings)
    parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { parser.deallocate() }

  func takeHead() -> RequestHead? {
    defer { head = nil }
    return head
  }

  func takeBody() -> [UInt8] {
    defer { body = [] }
    return body
  }

  /// Parses up to the end of a message.
  ///
  /// - Returns: what happened and how many bytes were used; all of them unless the message is complete.
  func execute(_ bytes: UnsafeRawBufferPointer) -> (outcome: Outcome, consumed: Int) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return (.needsMore, 0) }
    if headers.bytes.isEmpty && !isHeadComplete {
      headers.bytes.reserveCapacity(min(bytes.count, 1024))
      headers.spans.reserveCapacity(8)
    }
    let error = llhttp_execute(parser, start.assumingMemoryBound(to: CChar.self), bytes.count)
    switch error {
    case HPE_OK:
      return (.needsMore, bytes.count)
    case HPE_PAUSED:
      let position = UnsafeRawPointer(llhttp_get_error_pos(parser)) ?? start + bytes.count
      return (.complete, position - start)
    default:
      return (.failed(refusal ?? Self.status(of: error)), bytes.count)
    }
  }

  /// Gets ready for the next message after `.complete`.
  func resume() {
    llhttp_resume(parser)
    headers = RequestHeaders()
    isInValue = false
    isHeadComplete = false
    trailerBytes = 0
  }

  private static func status(of error: llhttp_errno_t) -> Status {
    error == HPE_INVALID_VERSION ? .versionNotSupported : .badRequest
  }

  // MARK: Callbacks

  /// One table for all parsers; written once, read only.
  private nonisolated(unsafe) static let settings: UnsafeMutablePointer<llhttp_settings_t> = {
    let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
    llhttp_settings_init(settings)
    settings.pointee.on_url = { of($0).target(UnsafeRawBufferPointer(start: $1, count: $2)) }
    settings.pointee.on_header_field = { of($0).name(UnsafeRawBufferPointer(start: $1, count: $2)) }
    settings.pointee.on_header_value = { of($0).value(UnsafeRawBufferPointer(start: $1, count: $2)) }
    settings.pointee.on_headers_complete = { of($0).headComplete() }
    settings.pointee.on_body = {
      of($0).body.append(contentsOf: UnsafeRawBufferPointer(start: $1, count: $2))
      return 0
    }
    settings.pointee.on_message_complete = { _ in Int32(HPE_PAUSED.rawValue) }
    return settings
  }()

  private static func of(_ parser: UnsafeMutablePointer<llhttp_t>?) -> RequestParser {
    Unmanaged<RequestParser>.fromOpaque(parser!.pointee.data).takeUnretainedValue()
  }

  private func refuse(_ status: Status) -> Int32 {
    refusal = status
    return -1
  }

  private func target(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard headers.bytes.count + bytes.count <= headerBytesLimit else { return refuse(.targetTooLong) }
    headers.bytes.append(contentsOf: bytes)
    headers.targetCount += bytes.count
    return 0
  }

  private func name(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard !isHeadComplete else { return trailer(bytes) }
    guard headers.bytes.count + bytes.count <= headerBytesLimit else { return refuse(.headersTooLarge) }
    if isInValue || headers.spans.isEmpty {
      guard headers.spans.count < headerCountLimit else { return refuse(.headersTooLarge) }
      headers.spans.append(.init(start: UInt32(headers.bytes.count), nameCount: 0, valueCount: 0))
      isInValue = false
    }
    headers.spans[headers.spans.count - 1].nameCount += UInt16(bytes.count)
    headers.bytes.append(contentsOf: bytes)
    return 0
  }

  private func value(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard !isHeadComplete else { return trailer(bytes) }
    guard headers.bytes.count + bytes.count <= headerBytesLimit, !headers.spans.isEmpty else {
      return refuse(.headersTooLarge)
    }
    isInValue = true
    headers.spans[headers.spans.count - 1].valueCount += UInt16(bytes.count)
    headers.bytes.append(contentsOf: bytes)
    return 0
  }

  /// Trailer fields are counted and thrown away: nothing here needs them, and merged they could contradict the header.
  private func trailer(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    trailerBytes += bytes.count
    return trailerBytes <= headerBytesLimit ? 0 : refuse(.headersTooLarge)
  }

  private func headComplete() -> Int32 {
    isHeadComplete = true
    // Whether to upgrade is the handler's choice; as a plain request it continues if the handler does not.
    parser.pointee.upgrade = 0
    let flags = UInt32(parser.pointee.flags)
    let isChunked = flags & F_CHUNKED.rawValue != 0
    if let status = check(isChunked: isChunked) { return refuse(status) }
    guard let method = Method(parsed: parser.pointee.method) else { return refuse(.notImplemented) }
    guard let announced = Int64(exactly: flags & F_CONTENT_LENGTH.rawValue != 0 ? parser.pointee.content_length : 0) else {
      return refuse(.contentTooLarge)
    }
    guard normalizeTarget(method) else { return refuse(.badRequest) }
    let expectation = headers.first("Expect")
    head = RequestHead(
      method: method, headers: headers, isHTTP10: parser.pointee.http_minor == 0,
      keepsAlive: llhttp_should_keep_alive(parser) != 0,
      announcedLength: isChunked ? nil : announced,
      expectsContinue: parser.pointee.http_minor == 1 && expectation.map { ASCII.equal($0, "100-continue") } ?? false)
    headers = RequestHeaders()
    return 0
  }

  /// What llhttp leaves to us: version, Host, and transfer codings. RFC 9112 §2.3, §3.2, §6.1.
  private func check(isChunked: Bool) -> Status? {
    guard parser.pointee.http_major == 1, parser.pointee.http_minor <= 1 else {
      return parser.pointee.http_major == 0 ? .badRequest : .versionNotSupported
    }
    let hosts = headers.occurrences(of: "Host")
    guard hosts <= 1, hosts == 1 || parser.pointee.http_minor == 0 else { return .badRequest }
    let codings = headers.occurrences(of: "Transfer-Encoding")
    if codings > 0 {
      guard parser.pointee.http_minor == 1 else { return .badRequest }
      guard isChunked, codings == 1, let coding = headers.first("Transfer-Encoding"), ASCII.equal(coding, "chunked") else {
        return .notImplemented
      }
    }
    return nil
  }

  /// Leaves a target of the form `/path?query`: the absolute form loses its origin, `*` is only for OPTIONS. RFC 9112 §3.2.
  private func normalizeTarget(_ method: Method) -> Bool {
    let target = headers.bytes[0..<headers.targetCount]
    guard !target.contains(UInt8(ascii: "#")) else { return false }
    if target.first == UInt8(ascii: "/") { return true }
    if target.elementsEqual([UInt8(ascii: "*")]) { return method == .options }
    let scheme = target.prefix { $0 != UInt8(ascii: ":") }
    guard ASCII.equal(scheme, "http") || ASCII.equal(scheme, "https") else { return false }
    let rest = target[scheme.endIndex...]
    guard rest.starts(with: "://".utf8) else { return false }
    let authority = rest.dropFirst(3)
    let pathStart = authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? authority.endIndex
    guard pathStart > authority.startIndex else { return false }
    let path = target[pathStart...]
    let normalized = path.first == UInt8(ascii: "/") ? Array(path) : [UInt8(ascii: "/")] + path
    replaceTarget(with: normalized)
    return true
  }

  private func replaceTarget(with target: [UInt8]) {
    let shift = headers.targetCount - target.count
    headers.bytes.replaceSubrange(0..<headers.targetCount, with: target)
    headers.targetCount = target.count
    for index in headers.spans.indices {
      headers.spans[index].start = UInt32(Int(headers.spans[index].start) - shift)
    }
  }
}
