import Addresses
import CCurl
import Glibc

/// One use of libcurl: an HTTP request or a mail. Subclasses say what is sent and what becomes of the answer.
///
/// Made by the caller, then used only on the loop's thread: `CurlLoop` hands it over under a lock, once.
class CurlTransfer: @unchecked Sendable {
  private(set) var easy: UnsafeMutableRawPointer?
  /// When the transfer ends in any case. libcurl's own timeout does not run (7.88) while a transfer waits for a connection.
  let deadline: ContinuousClock.Instant
  private var lists: [UnsafeMutablePointer<curl_slist>] = []

  /// - Parameter timeout: from now on, for everything together.
  init(timeout: Duration) { deadline = .now + timeout }

  /// Sets the options on a new handle; throws where libcurl would not take one.
  func prepare(_ easy: UnsafeMutableRawPointer) throws(OutboundError) {}

  /// Whether libcurl may connect to an address, asked right before it does; nil is no IP address at all.
  func permits(_ address: IPAddress?) -> Bool { true }

  /// Called exactly once, whether or not the transfer began. `easy` is there still unless it never was.
  func finish(_ result: Result<Void, OutboundError>) {}

  /// What libcurl's result means for this transfer.
  func error(for code: CURLcode) -> OutboundError { OutboundError(code) }

  final func begin(on multi: UnsafeMutableRawPointer) throws(OutboundError) {
    guard let easy = curl_easy_init() else { throw .tooBusy }
    self.easy = easy
    martlet_curl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    martlet_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // A name server that does not answer holds up its own request only: the thread that asks it is left to end by itself.
    martlet_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    // Not from the environment of the process either.
    martlet_curl_set_string(easy, CURLOPT_PROXY, "")
    martlet_curl_set_long(easy, CURLOPT_NETRC, 0)
    martlet_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(self).toOpaque())
    martlet_curl_set_socket_opener(easy) { context, _, address in
      guard let context, let address else { return CURL_SOCKET_BAD }
      return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().socket(for: address)
    }
    try prepare(easy)
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else { throw .tooBusy }
  }

  /// Ends the transfer, whatever state it is in, and reports the result.
  final func end(on multi: UnsafeMutableRawPointer, _ result: Result<Void, OutboundError>) {
    if let easy { curl_multi_remove_handle(multi, easy) }
    finish(result)
    if let easy { curl_easy_cleanup(easy) }
    for list in lists { curl_slist_free_all(list) }
    easy = nil
    lists = []
  }

  /// Opens a socket for the address that libcurl is about to connect to, unless this transfer may not go there.
  private func socket(for address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let count = Int(address.pointee.addrlen)
    let ip = withUnsafePointer(to: &address.pointee.addr) { IPAddress(system: UnsafeRawPointer($0), count: count) }
    guard permits(ip) else { return CURL_SOCKET_BAD }
    // No program started meanwhile inherits it.
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return Glibc.socket(address.pointee.family, type, address.pointee.protocol)
  }

  // MARK: For subclasses, while they prepare

  final func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) throws(OutboundError) {
    guard martlet_curl_set_long(easy, option, value) == CURLE_OK else { throw .invalidRequest }
  }

  final func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) throws(OutboundError) {
    guard !value.utf8.contains(0), martlet_curl_set_string(easy, option, value) == CURLE_OK else {
      throw .invalidRequest
    }
  }

  /// A list of lines, kept until the transfer ends.
  final func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, list lines: [String]) throws(OutboundError) {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = curl_slist_append(list, line) else {
        curl_slist_free_all(list)
        throw .tooBusy
      }
      list = longer
    }
    guard let list else { return }
    lists.append(list)
    guard martlet_curl_set_pointer(easy, option, list) == CURLE_OK else { throw .invalidRequest }
  }
}

extension Duration {
  /// For libcurl, to which zero means no limit.
  var curlMilliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 31 else { return Int(Int32.max) }
    return max(1, Int(clamping: seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}

extension OutboundError {
  init(_ code: CURLcode) {
    self =
      switch code {
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .invalidURL
      case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
      case CURLE_COULDNT_CONNECT: .cannotConnect
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      case CURLE_TOO_MANY_REDIRECTS: .tooManyRedirects
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED:
        .untrustedServer
      default: .brokenAnswer
      }
  }
}
