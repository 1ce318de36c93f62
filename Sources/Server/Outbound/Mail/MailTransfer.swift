import CCurl

/// One mail in libcurl.
final class MailTransfer: CurlTransfer, @unchecked Sendable {
  private let recipient: MailAddress
  private let configuration: MailConfiguration
  private let continuation: CheckedContinuation<Result<Void, OutboundError>, Never>
  private let message: [UInt8]
  private var sentCount = 0

  init(
    _ message: [UInt8], to recipient: MailAddress, _ configuration: MailConfiguration,
    _ continuation: CheckedContinuation<Result<Void, OutboundError>, Never>
  ) {
    self.message = message
    self.recipient = recipient
    self.configuration = configuration
    self.continuation = continuation
    super.init(timeout: configuration.timeout)
  }

  override func prepare(_ easy: UnsafeMutableRawPointer) throws(OutboundError) {
    let scheme = configuration.security == .tls ? "smtps" : "smtp"
    let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
    // The path is what HELO says.
    let url = "\(scheme)://\(host):\(configuration.port)/\(configuration.sender.domain)"
    try set(easy, CURLOPT_URL, url)
    try set(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
    if configuration.security != .none { try set(easy, CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
    try set(easy, CURLOPT_TIMEOUT_MS, configuration.timeout.curlMilliseconds)
    if let user = configuration.user {
      try set(easy, CURLOPT_USERNAME, user)
      try set(easy, CURLOPT_PASSWORD, configuration.password?.reveal() ?? "")
    }
    try set(easy, CURLOPT_MAIL_FROM, "<\(configuration.sender)>")
    try set(easy, CURLOPT_MAIL_RCPT, list: ["<\(recipient)>"])
    try set(easy, CURLOPT_UPLOAD, 1)
    martlet_curl_set_pointer(easy, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque())
    martlet_curl_set_reader(easy) { buffer, size, count, context in
      guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
      return Unmanaged<MailTransfer>.fromOpaque(context).takeUnretainedValue().give(
        UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }
  }

  override func error(for code: CURLcode) -> OutboundError {
    let status = easy.map { Int(martlet_curl_status($0)) } ?? 0
    if status >= 400 { return .refused(status: status) }
    // Of a URL's user name in HTTP; here the server has let nobody in without saying no.
    return code == CURLE_LOGIN_DENIED ? .brokenAnswer : super.error(for: code)
  }

  override func finish(_ result: Result<Void, OutboundError>) { continuation.resume(returning: result) }

  private func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, message.count - sentCount)
    buffer.copyBytes(from: message[sentCount..<sentCount + count])
    sentCount += count
    return count
  }
}
