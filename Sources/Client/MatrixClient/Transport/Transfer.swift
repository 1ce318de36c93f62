#if !canImport(Darwin)
  import CCurl
  import ClientCore

  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// One exchange in libcurl.
  ///
  /// Made by the caller, then used only on the transport's thread: `CurlTransport.post` hands it over under a lock.
  final class Transfer: @unchecked Sendable {
    let id: UInt64
    private let exchange: Exchange
    private let settings: TransportSettings
    private let continuation: CheckedContinuation<Response, Never>
    private(set) var easy: UnsafeMutableRawPointer?
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private var source: UnsafeMutablePointer<FILE>?
    private var sourceBytes: Int64 = 0
    private var encrypter: FileEncrypter?
    private var sink: FileSink?
    /// libcurl takes a connection that ends amid the headers for an answer without a body.
    private var hasAllHeaders = false
    private var received: [UInt8] = []
    private var receivedBytes = 0
    private var lastProgress = TransferProgress()

    init(
      id: UInt64, _ exchange: Exchange, _ settings: TransportSettings,
      _ continuation: CheckedContinuation<Response, Never>
    ) {
      self.id = id
      self.exchange = exchange
      self.settings = settings
      self.continuation = continuation
    }

    func finish(_ response: Response) { continuation.resume(returning: response) }

    /// nil where it is under way.
    func begin(on multi: UnsafeMutableRawPointer) -> Response? {
      switch exchange.body {
      case .own: break
      case .file(let path): guard openSource(path) else { return .blobIsGone }
      case .encryptedFile(let path, let encrypter):
        guard openSource(path) else { return .blobIsGone }
        encrypter.begin()
        self.encrypter = encrypter
      }
      guard let easy = curl_easy_init() else {
        release()
        return .networkError
      }
      self.easy = easy
      setServer(easy)
      setTrust(easy)
      setMethod(easy)
      setHeaders(easy)
      setWriter(easy)
      if exchange.progress != nil { setProgress(easy) }
      guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
        release()
        return .networkError
      }
      return nil
    }

    func end(on multi: UnsafeMutableRawPointer) {
      if let easy { curl_multi_remove_handle(multi, easy) }
      release()
    }

    func response(_ result: CURLcode) -> Response {
      switch result {
      case CURLE_OK:
        guard let easy, hasAllHeaders, take(UnsafeRawBufferPointer(start: nil, count: 0)), sink?.finish() ?? true else {
          return .networkError
        }
        guard encrypter.map({ $0.byteCount == sourceBytes }) ?? true else { return .networkError }
        report(isLast: true)
        return .answer(status: Int(martlet_curl_status(easy)), body: received)
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_ISSUER_ERROR:
        return .untrustedServer
      default: return .networkError
      }
    }

    private func release() {
      if let easy { curl_easy_cleanup(easy) }
      for list in lists { curl_slist_free_all(list) }
      if let source { fclose(source) }
      sink?.discard()
      easy = nil
      lists = []
      source = nil
      sink = nil
    }

    // MARK: Options

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func of(_ context: UnsafeMutableRawPointer) -> Transfer {
      Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    private func setServer(_ easy: UnsafeMutableRawPointer) {
      martlet_curl_set_string(easy, CURLOPT_URL, exchange.server + exchange.request.target)
      martlet_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
      martlet_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
      martlet_curl_set_long(easy, CURLOPT_TIMEOUT_MS, Int(clamping: exchange.request.timeoutMilliseconds))
      martlet_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 15_000)
      martlet_curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
      martlet_curl_set_string(easy, CURLOPT_USERAGENT, settings.userAgent)
      if let proxy = settings.proxy { martlet_curl_set_string(easy, CURLOPT_PROXY, proxy) }
      if exchange.redirectLimit > 0, exchange.request.accessToken == nil {
        martlet_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
        martlet_curl_set_long(easy, CURLOPT_MAXREDIRS, exchange.redirectLimit)
        martlet_curl_set_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https")
      }
      if let list = list(settings.connectTo) { martlet_curl_set_list(easy, CURLOPT_CONNECT_TO, list) }
    }

    private func setTrust(_ easy: UnsafeMutableRawPointer) {
      if let roots = settings.rootCertificates {
        martlet_curl_set_string(easy, CURLOPT_CAINFO, roots)
        martlet_curl_set_pointer(easy, CURLOPT_CAPATH, nil)
      }
      if !settings.pinnedPublicKeys.isEmpty {
        let keys = settings.pinnedPublicKeys.map { "sha256//" + $0 }.joined(separator: ";")
        martlet_curl_set_string(easy, CURLOPT_PINNEDPUBLICKEY, keys)
      }
    }

    private func setMethod(_ easy: UnsafeMutableRawPointer) {
      let body = exchange.request.body ?? []
      switch exchange.request.method {
      case .get: return
      case .delete:
        martlet_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, "DELETE")
        if body.isEmpty { return }
      case .put: martlet_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, "PUT")
      case .post: break
      }
      martlet_curl_set_long(easy, CURLOPT_POST, 1)
      guard source == nil else { return setReader(easy) }
      martlet_curl_set_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
      // libcurl copies the bytes during the call.
      body.withUnsafeBytes { bytes in
        _ = martlet_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      }
    }

    private func setHeaders(_ easy: UnsafeMutableRawPointer) {
      var headers = ["Expect:"]
      if let token = exchange.request.accessToken { headers.append("Authorization: Bearer " + token.string) }
      if let type = exchange.request.contentType { headers.append("Content-Type: " + type) }
      if let list = list(headers) { martlet_curl_set_list(easy, CURLOPT_HTTPHEADER, list) }
    }

    /// Lives as long as the transfer.
    private func list(_ texts: [String]) -> UnsafeMutablePointer<curl_slist>? {
      let list = texts.reduce(nil as UnsafeMutablePointer<curl_slist>?) { curl_slist_append($0, $1) }
      if let list { lists.append(list) }
      return list
    }

    // MARK: The body

    private func openSource(_ path: String) -> Bool {
      guard let file = fopen(path, "re") else { return false }
      var status = stat()
      guard fstat(fileno(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        fclose(file)
        return false
      }
      source = file
      sourceBytes = Int64(status.st_size)
      return true
    }

    private func setReader(_ easy: UnsafeMutableRawPointer) {
      martlet_curl_set_long(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int(sourceBytes))
      martlet_curl_set_pointer(easy, CURLOPT_READDATA, context)
      martlet_curl_set_reader(easy) { bytes, size, count, context in
        guard let bytes, let context, let source = Transfer.of(context).source else { return Int(CURL_READFUNC_ABORT) }
        let read = fread(bytes, 1, size * count, source)
        Transfer.of(context).encrypter?.encrypt(UnsafeMutableRawBufferPointer(start: bytes, count: read))
        return read == 0 && ferror(source) != 0 ? Int(CURL_READFUNC_ABORT) : read
      }
      martlet_curl_set_pointer(easy, CURLOPT_SEEKDATA, context)
      martlet_curl_set_seeker(easy) { context, offset, origin in
        guard let context, let source = Transfer.of(context).source else { return 1 }
        if let encrypter = Transfer.of(context).encrypter {
          // From the beginning only.
          guard offset == 0, origin == SEEK_SET else { return 1 }
          encrypter.begin()
        }
        return fseek(source, Int(offset), origin) == 0 ? 0 : 1
      }
    }

    // MARK: The answer

    private func setWriter(_ easy: UnsafeMutableRawPointer) {
      martlet_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
      martlet_curl_set_header_writer(easy) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        Transfer.of(context).take(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
      }
      martlet_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
      martlet_curl_set_writer(easy) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Transfer.of(context).take(chunk) ? chunk.count : 0
      }
    }

    private func take(header line: UnsafeRawBufferPointer) {
      if line.starts(with: "HTTP/".utf8) { hasAllHeaders = false }
      if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) { hasAllHeaders = true }
    }

    private func take(_ chunk: UnsafeRawBufferPointer) -> Bool {
      receivedBytes += chunk.count
      guard receivedBytes <= exchange.answerBytesLimit, let easy else { return false }
      guard case .file(let path) = exchange.destination, (200..<300).contains(Int(martlet_curl_status(easy))) else {
        received += chunk
        return true
      }
      if sink == nil { sink = FileSink(path: path) }
      return sink?.append(chunk) ?? false
    }

    // MARK: Progress

    private func setProgress(_ easy: UnsafeMutableRawPointer) {
      martlet_curl_set_pointer(easy, CURLOPT_XFERINFODATA, context)
      martlet_curl_set_progress(easy) { context, toReceive, received, _, sent in
        guard let context else { return 0 }
        let isWanted = Transfer.of(context).moved(
          sent: Int64(sent), received: Int64(received), toReceive: Int64(toReceive))
        return isWanted ? 0 : 1
      }
    }

    private var next = TransferProgress()

    /// Returns false for what says of itself that it is too long: nothing of it need come.
    private func moved(sent: Int64, received: Int64, toReceive: Int64) -> Bool {
      next.sentBytes = sent
      next.bytesToSend = source == nil ? Int64(exchange.request.body?.count ?? 0) : sourceBytes
      next.receivedBytes = received
      next.bytesToReceive = toReceive
      guard toReceive <= Int64(exchange.answerBytesLimit) else {
        // Who set the limit hears how much it would have been.
        exchange.progress?(next)
        return false
      }
      report(isLast: false)
      return true
    }

    /// Reports progress in steps of one percent, so that a fast transfer does not flood the listener.
    private func report(isLast: Bool) {
      guard let progress = exchange.progress else { return }
      if isLast {
        next.sentBytes = next.bytesToSend
        next.receivedBytes = Int64(receivedBytes)
        next.bytesToReceive = next.receivedBytes
      }
      let step = max(next.bytesToSend, next.bytesToReceive) / 100
      let moved = max(next.sentBytes - lastProgress.sentBytes, next.receivedBytes - lastProgress.receivedBytes)
      guard next != lastProgress, isLast || moved >= max(step, 1) else { return }
      lastProgress = next
      progress(next)
    }
  }
#endif
