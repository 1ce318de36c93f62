import Addresses
import CCurl

/// One HTTP request in libcurl, redirects included.
final class HTTPTransfer: CurlTransfer, @unchecked Sendable {
  private let request: OutgoingRequest
  private let configuration: OutboundConfiguration
  /// nil permits every address.
  private let policy: AddressPolicy?
  private let continuation: CheckedContinuation<Result<IncomingResponse, OutboundError>, Never>
  private var headers: [(name: String, value: String)] = []
  private var headerBytes = 0
  /// libcurl takes a connection that ends amid the headers for an answer without a body.
  private var hasAllHeaders = false
  private var body: [UInt8] = []
  private var isTruncated = false
  private var hasRefusedAddress = false
  private var source: FileSource?

  /// Bytes of all header lines of a request with its redirects.
  static let headerBytesLimit = 256 << 10

  init(
    _ request: OutgoingRequest, _ configuration: OutboundConfiguration, policy: AddressPolicy?,
    _ continuation: CheckedContinuation<Result<IncomingResponse, OutboundError>, Never>
  ) {
    self.request = request
    self.configuration = configuration
    self.policy = policy
    self.continuation = continuation
    super.init(timeout: request.timeout)
  }

  override func prepare(_ easy: UnsafeMutableRawPointer) throws(OutboundError) {
    guard OutgoingURL.isAcceptable(request.url) else { throw .invalidURL }
    try set(easy, CURLOPT_URL, request.url)
    try set(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    try set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    try set(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    try set(easy, CURLOPT_TIMEOUT_MS, request.timeout.curlMilliseconds)
    try set(easy, CURLOPT_CONNECTTIMEOUT_MS, min(request.timeout, configuration.connectTimeout).curlMilliseconds)
    try set(easy, CURLOPT_FOLLOWLOCATION, request.redirectLimit > 0 ? 1 : 0)
    try set(easy, CURLOPT_MAXREDIRS, max(0, request.redirectLimit))
    if request.acceptsCompression { try set(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate") }
    if let file = configuration.certificatesFile { try set(easy, CURLOPT_CAINFO, file) }
    try set(easy, CURLOPT_USERAGENT, "Martlet")
    try setMethodAndBody(easy)
    try set(easy, CURLOPT_HTTPHEADER, list: headerLines())
    setCallbacks(easy)
  }

  override func permits(_ address: IPAddress?) -> Bool {
    guard let policy else { return true }
    if let address, policy.permits(address) { return true }
    hasRefusedAddress = true
    return false
  }

  override func error(for code: CURLcode) -> OutboundError {
    hasRefusedAddress && code == CURLE_COULDNT_CONNECT ? .forbiddenAddress : super.error(for: code)
  }

  override func finish(_ result: Result<Void, OutboundError>) {
    switch result {
    case .failure(let error) where !isTruncated: continuation.resume(returning: .failure(error))
    default:
      guard let easy, hasAllHeaders else { return continuation.resume(returning: .failure(.brokenAnswer)) }
      continuation.resume(
        returning: .success(
          IncomingResponse(
            status: Int(martlet_curl_status(easy)), headers: headers, body: body,
            url: martlet_curl_effective_url(easy).map { String(cString: $0) } ?? request.url, isTruncated: isTruncated)))
    }
  }

  // MARK: What is sent

  private func setMethodAndBody(_ easy: UnsafeMutableRawPointer) throws(OutboundError) {
    guard HeaderText.isToken(request.method) else { throw .invalidRequest }
    if let file = request.file { return try send(file, easy) }
    switch request.method {
    case "GET" where request.body.isEmpty: return
    case "HEAD" where request.body.isEmpty: return try set(easy, CURLOPT_NOBODY, 1)
    case "POST": break
    default: try set(easy, CURLOPT_CUSTOMREQUEST, request.method)
    }
    try set(easy, CURLOPT_POST, 1)
    try set(easy, CURLOPT_POSTFIELDSIZE, request.body.count)
    // libcurl copies the bytes during the call.
    request.body.withUnsafeBytes { bytes in
      _ = martlet_curl_set_pointer(
        easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(easy)))
    }
  }

  private func send(_ file: OutgoingFile, _ easy: UnsafeMutableRawPointer) throws(OutboundError) {
    guard let source = FileSource(file) else { throw .invalidRequest }
    self.source = source
    try set(easy, CURLOPT_UPLOAD, 1)
    try set(easy, CURLOPT_CUSTOMREQUEST, request.method)
    try set(easy, CURLOPT_INFILESIZE_LARGE, file.range.count)
    source.give(to: easy)
  }

  private func headerLines() throws(OutboundError) -> [String] {
    // No waiting for 100 Continue, and no type that the request does not have.
    var lines = ["Expect:"]
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    for (name, value) in request.headers {
      guard HeaderText.isToken(name), HeaderText.isValue(value) else { throw .invalidRequest }
      // libcurl's way to write a header without a value.
      lines.append(value.isEmpty ? name + ";" : name + ": " + value)
    }
    return lines
  }

  // MARK: What is received

  private func setCallbacks(_ easy: UnsafeMutableRawPointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    martlet_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    martlet_curl_set_header_writer(easy) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(header: line) ? line.count : 0
    }
    martlet_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    martlet_curl_set_writer(easy) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(body: part) ? part.count : 0
    }
  }

  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= Self.headerBytesLimit else { return false }
    // A status line begins the next answer: after a redirect or an informational one.
    if line.starts(with: "HTTP/".utf8) {
      headers = []
      hasAllHeaders = false
    }
    if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) { hasAllHeaders = true }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return true }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let value = line[(colon + 1)...].drop(while: HeaderText.isSpace).reversed().drop(while: HeaderText.isSpace).reversed()
    headers.append((name, String(decoding: Array(value), as: UTF8.self)))
    return true
  }

  private func take(body part: UnsafeRawBufferPointer) -> Bool {
    let room = request.responseBytesLimit - body.count
    guard part.count <= room else {
      body += part[..<max(0, room)]
      isTruncated = true
      return false
    }
    body += part
    return true
  }
}
