import Messenger

/// A request to a server.
public struct HostRequest {
  public var method: String
  public var url: String
  public var headers: [(name: String, value: String)]
  /// Empty sends no body.
  public var body: [UInt8]
  /// 0 waits for ever.
  public var timeoutMilliseconds: Int
  /// Answers that are longer are status 413 without a body, and nothing of them is kept; 0 takes any.
  public var answerBytesLimit = 0

  public init(
    method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    timeoutMilliseconds: Int = 0
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  /// `METHOD\nURL\ntimeout\nlimit\nname: value\n...`. Line breaks cannot occur in any part: they are dropped.
  func head() -> [UInt8] {
    var head: [UInt8] = []
    func line(_ text: String) {
      for byte in Array(text.utf8) where byte != 0x0A && byte != 0x0D { head.append(byte) }
    }
    line(method)
    head.append(0x0A)
    line(url)
    head.append(0x0A)
    line("\(timeoutMilliseconds)")
    head.append(0x0A)
    line("\(answerBytesLimit)")
    for header in headers {
      head.append(0x0A)
      line(header.name)
      head.append(0x3A)
      line(header.value)
    }
    return head
  }
}

/// What came back. Status 0: no answer (offline, refused, timed out, blocked).
public struct HostResponse {
  public var status: Int
  /// `content-type` and `retry-after` where present, names in lower case.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]

  public func header(_ name: String) -> String? {
    for header in headers where header.name.hasSameBytes(as: name) { return header.value }
    return nil
  }

  /// The first `headCount` bytes are `name:value` lines, the rest is the body.
  init(status: Int32, headCount: Int, bytes: UnsafeRawBufferPointer) {
    self.status = Int(status)
    let headCount = min(max(headCount, 0), bytes.count)
    headers = []
    for line in bytes[..<headCount].split(separator: 0x0A) {
      guard let colon = line.firstIndex(of: 0x3A) else { continue }
      headers.append(
        (String(decoding: line[..<colon], as: UTF8.self), String(decoding: line[(colon + 1)...], as: UTF8.self)))
    }
    body = [UInt8](bytes[headCount...])
  }
}

/// How an upload goes.
public enum UploadEvent {
  /// Bytes that left, 0...1 of all.
  case progress(Double)
  /// The last event.
  case done(HostResponse)
}

public enum EncryptedUploadEvent {
  case progress(Double)
  case encrypted(key: String, counter: String, digest: String)
  /// The file is gone, too large, or this browser cannot encrypt.
  case failed
  case done(HostResponse)
}

/// How a download goes.
public enum DownloadEvent {
  /// How much has come, 0...1. Of what is small and quick nothing is told.
  case progress(Double)
  /// The last event: whether it could be had.
  case done(Bool)
}

extension Host {
  /// Sends a request without cookies. `then` is called once, unless the task is cancelled.
  @discardableResult
  public static func fetch(_ request: HostRequest, _ then: @escaping (HostResponse) -> Void) -> HostTask {
    let id = registerOnce { then(HostResponse(status: $0.code, headCount: Int($0.x), bytes: $0.bytes)) }
    hostFetch(id, request.head(), request.body)
    return HostTask(id: id)
  }

  /// Sends a file as the body of a request (whose own `body` is not used); the bytes never enter the program.
  @discardableResult
  public static func upload(
    _ file: PickedFile, _ request: HostRequest, _ then: @escaping (UploadEvent) -> Void
  ) -> HostTask {
    var id: Int32 = 0
    id = register { event in
      // Code -1 is progress; otherwise it is the status of the final answer.
      if event.code < 0 {
        then(.progress(event.x))
      } else {
        callbacks.remove(id)
        then(.done(HostResponse(status: event.code, headCount: Int(event.x), bytes: event.bytes)))
      }
    }
    hostUpload(id, file.handle, request.head())
    return HostTask(id: id)
  }

  /// The same of the file's ciphertext under a new key. The key and the rest come before the end: URL-safe base64 of the key, base64 of the first
  /// counter and of the ciphertext's SHA-256.
  @discardableResult
  public static func uploadEncrypted(
    _ file: PickedFile, _ request: HostRequest, _ then: @escaping (EncryptedUploadEvent) -> Void
  ) -> HostTask {
    var id: Int32 = 0
    id = register { event in
      switch event.code {
      case -1: then(.progress(event.x))
      case -2:
        let words = event.text.utf8.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        if words.count == 3 { then(.encrypted(key: words[0], counter: words[1], digest: words[2])) }
      case -3:
        callbacks.remove(id)
        then(.failed)
      default:
        callbacks.remove(id)
        then(.done(HostResponse(status: event.code, headCount: Int(event.x), bytes: event.bytes)))
      }
    }
    hostUploadEncrypted(id, file.handle, request.head())
    return HostTask(id: id)
  }

  /// Fetches a URL (with the images' token where it applies) and hands it to the person as a file, or to another program that they choose
  /// (`PageState.canShare`).
  public static func download(
    url: String, fileName: String, shares: Bool = false, _ then: @escaping (DownloadEvent) -> Void
  ) -> HostTask {
    var id: Int32 = 0
    id = register { event in
      if event.code < 0 { return then(.progress(event.x)) }
      callbacks.remove(id)
      then(.done(event.code == 1))
    }
    if shares { hostShare(id, fields(url, fileName)) } else { hostDownload(id, fields(url, fileName)) }
    return HostTask(id: id)
  }

  /// Hands a link to another program that the person chooses (`PageState.canShare`).
  public static func share(link: String, title: String) { hostShareLink(fields(link, title)) }

  /// From now on `DOM.setImage` fetches sources that begin with `prefix` with `Authorization: Bearer token`. An empty
  /// token ends that and forgets every loaded image (at logout).
  public static func authorizeImages(prefix: String, token: String) {
    hostImageAccess(fields(prefix, token))
  }
}
