import CCurl
import ClientCore

/// One request in libcurl.
///
/// Made by the caller, then used only on the transport's thread: `CurlTransport.post` hands it over under a lock.
final class Transfer: @unchecked Sendable {
  let id: UInt64
  private let request: HTTPRequest
  private let body: [UInt8]
  private let url: String
  private let continuation: CheckedContinuation<Response, Never>
  private(set) var easy: UnsafeMutableRawPointer?
  private var headers: UnsafeMutablePointer<curl_slist>?
  fileprivate(set) var received: [UInt8] = []

  /// Bytes of an answer that are taken; a longer one is a broken transfer.
  static let bytesLimit = 1 << 28

  init(
    id: UInt64, request: HTTPRequest, body: [UInt8], url: String, _ continuation: CheckedContinuation<Response, Never>
  ) {
    self.id = id
    self.request = request
    self.body = body
    self.url = url
    self.continuation = continuation
  }

  func finish(_ response: Response) { continuation.resume(returning: response) }

  func begin(on multi: UnsafeMutableRawPointer) -> Bool {
    guard let easy = curl_easy_init() else { return false }
    self.easy = easy
    martlet_curl_set_string(easy, CURLOPT_URL, url)
    martlet_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    martlet_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    martlet_curl_set_long(easy, CURLOPT_TIMEOUT_MS, Int(clamping: request.timeoutMilliseconds))
    martlet_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 15_000)
    martlet_curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
    martlet_curl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
    martlet_curl_set_writer(easy) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      guard transfer.received.count + size * count <= Transfer.bytesLimit else { return 0 }
      transfer.received += UnsafeRawBufferPointer(start: bytes, count: size * count)
      return size * count
    }
    setMethod(easy)
    setHeaders(easy)
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
      release()
      return false
    }
    return true
  }

  func end(on multi: UnsafeMutableRawPointer) {
    if let easy { curl_multi_remove_handle(multi, easy) }
    release()
  }

  private func release() {
    if let easy { curl_easy_cleanup(easy) }
    if let headers { curl_slist_free_all(headers) }
    easy = nil
    headers = nil
  }

  private func setMethod(_ easy: UnsafeMutableRawPointer) {
    switch request.method {
    case .get: return
    case .delete where body.isEmpty:
      martlet_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, "DELETE")
      return
    case .delete: martlet_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, "DELETE")
    case .put: martlet_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, "PUT")
    case .post: break
    }
    martlet_curl_set_long(easy, CURLOPT_POST, 1)
    martlet_curl_set_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
    // libcurl copies the bytes during the call.
    body.withUnsafeBytes { bytes in
      _ = martlet_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
  }

  private func setHeaders(_ easy: UnsafeMutableRawPointer) {
    if let token = request.accessToken { headers = curl_slist_append(headers, "Authorization: Bearer " + token.string) }
    if let type = request.contentType { headers = curl_slist_append(headers, "Content-Type: " + type) }
    headers = curl_slist_append(headers, "Expect:")
    martlet_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
  }
}
