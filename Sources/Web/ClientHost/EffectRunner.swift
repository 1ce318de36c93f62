import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Carries out what the client asks for: requests, timers, the store.
package final class EffectRunner {
  package var server: Server
  package let blobs = BlobShelf()
  package let encryption = PageEncryption()
  package private(set) lazy var histories = RoomHistories(encryption)
  package let search = PageSearch()
  /// Takes the answers.
  package var answer: (Input) -> Void = { _ in } {
    didSet { encryption.answer = answer }
  }
  private let storeName: String
  private var store: KeyValueStore?
  private var requests: IDTable<HostTask> = [:]
  private var timers: IDTable<HostTask> = [:]
  package private(set) var isStopped = false
  /// Whether the store outlives the page.
  package var isLasting: Bool { !storeName.utf8.isEmpty }
  /// Whether a request is made, and answered, when nothing else is any more.
  package var outlives: (RequestID) -> Bool = { _ in false }

  /// - Parameter storeName: empty for one that goes away with the page.
  package init(server: Server, storeName: String = "martlet") {
    self.server = server
    self.storeName = storeName
    encryption.read = { [self] prefixes, then in read(prefixes.map { StoreRange(prefix: $0) }, then) }
    encryption.write = { [self] in writeHeld() }
    encryption.onLate = { [self] in search.keysCame(for: $0) }
    search.read = { [self] in read([$0], $1) }
    search.decrypt = { [self] in encryption.decrypt($0, of: $1, $2) }
    search.write = { [self] in write($0, $1) }
  }

  /// Opens the store; what is asked before that would be lost.
  package func open(_ then: @escaping () -> Void) {
    Host.openStore(named: storeName) { [self] opened in
      store = opened
      search.start { [self] in encryption.prepare(then) }
    }
  }

  /// Nothing is answered any more but what outlives this; writes that were begun still happen.
  package func stop() {
    isStopped = true
    encryption.close()
    search.stop()
    for id in requests.keys where !outlives(id) { requests.removeValue(forKey: id)?.cancel() }
    for task in timers.values { task.cancel() }
    timers = [:]
  }

  package func run(_ effect: Effect) {
    guard !isStopped else {
      switch effect {
      case .request(let id, let request): if outlives(id) { send(id, request) }
      case .startTimer(let id, let milliseconds): startTimer(id, milliseconds)
      default: break
      }
      return
    }
    switch effect {
    case .request(let id, let request): send(id, request)
    case .upload(let id, let request, let blob): upload(id, request, blob)
    case .uploadEncrypted(let id, let request, let blob): upload(id, request, blob, encrypted: true)
    case .cancelRequest(let id): requests.removeValue(forKey: id)?.cancel()
    case .startTimer(let id, let milliseconds): startTimer(id, milliseconds)
    case .cancelTimer(let id): timers.removeValue(forKey: id)?.cancel()
    case .load(let id, let range): load(id, range)
    case .write(let id, let operations): write(id, operations)
    case .releaseBlob(let blob): blobs.release(blob)
    case .encrypt(let id, let message): encryption.encrypt(message, id)
    case .prepareEncryption(let readers): encryption.prepare(for: readers)
    case .change, .queryEnded, .queryProgress: break
    }
  }

  // MARK: Requests

  private func send(_ id: RequestID, _ request: HTTPRequest) {
    requests[id] = Host.fetch(hostRequest(request)) { [self] response in
      // Another program gets what the server says, and no clear text.
      if response.status == 200, !outlives(id), encryption.takes(response.body, to: request.target, id) {
        requests[id] = nil
      } else {
        answered(id, response)
      }
    }
  }

  private func upload(_ id: RequestID, _ request: HTTPRequest, _ blob: BlobHandle, encrypted: Bool = false) {
    let finding = blobs.find(blob) { [self] file in
      guard let file else { return answer(.response(id, .blobIsGone)) }
      if encrypted { uploadEncrypted(id, request, file) } else { upload(id, request, file) }
    }
    if let finding { requests[id] = finding }
  }

  private func upload(_ id: RequestID, _ request: HTTPRequest, _ file: PickedFile) {
    requests[id] = Host.upload(file, hostRequest(request)) { [self] event in
      switch event {
      case .progress(let fraction):
        let sent = Int64(fraction * Double(file.byteCount))
        answer(.uploadProgress(id, sentBytes: sent, totalBytes: file.byteCount))
      case .done(let response): answered(id, response)
      }
    }
  }

  private func uploadEncrypted(_ id: RequestID, _ request: HTTPRequest, _ file: PickedFile) {
    requests[id] = Host.uploadEncrypted(file, hostRequest(request)) { [self] event in
      switch event {
      case .progress(let fraction):
        let sent = Int64(fraction * Double(file.byteCount))
        answer(.uploadProgress(id, sentBytes: sent, totalBytes: file.byteCount))
      case .encrypted(let key, let counter, let digest):
        let keys = FileKeys(key: ByteString(key), counter: ByteString(counter), digest: ByteString(digest))
        if let keys { answer(.fileEncrypted(id, keys)) }
      case .failed:
        requests[id] = nil
        answer(.response(id, .blobIsGone))
      case .done(let response): answered(id, response)
      }
    }
  }

  private func answered(_ id: RequestID, _ response: HostResponse) {
    requests[id] = nil
    answer(.response(id, response.status == 0 ? .networkError : .answer(status: response.status, body: response.body)))
  }

  package func hostRequest(_ request: HTTPRequest) -> HostRequest {
    var headers: [(name: String, value: String)] = []
    if let type = request.contentType { headers.append(("Content-Type", type)) }
    if let token = request.accessToken { headers.append(("Authorization", "Bearer " + token.string)) }
    return HostRequest(
      method: request.method.name, url: server.base + request.target, headers: headers, body: request.body ?? [],
      timeoutMilliseconds: Int(clamping: request.timeoutMilliseconds))
  }

  private func startTimer(_ id: TimerID, _ milliseconds: Int64) {
    timers[id] = Host.after(milliseconds: Double(milliseconds)) { [self] in
      timers[id] = nil
      answer(.timerFired(id))
    }
  }

  // MARK: Store

  private func load(_ id: LoadID, _ range: StoreRange) {
    read([range]) { [self] records in
      if !isStopped, !encryption.takes(records, id) { answer(.loaded(id, records)) }
    }
  }

  private func read(_ ranges: [StoreRange], _ then: @escaping ([StoreRecord]) -> Void) {
    guard let store else { return then([]) }
    let ranges = ranges.map { range in
      KeyValueStore.Range(
        prefix: range.prefix.string, after: range.after?.string ?? "", before: range.before?.string ?? "",
        isDescending: range.isDescending, limit: range.limit ?? 0)
    }
    store.read(ranges) { entries in
      var records: [StoreRecord] = []
      for entry in entries ?? [] { records.append(StoreRecord(key: ByteString(entry.key), value: entry.value)) }
      then(records)
    }
  }

  /// In one batch with what the encryption has to keep.
  private func write(_ id: WriteID, _ operations: [StoreOperation]) {
    let held = encryption.takeHeld()
    write((held?.changes ?? []) + operations + search.follow(operations)) { [self] isStored in
      held?.then(isStored)
      answer(.written(id, isStored))
    }
  }

  private func writeHeld() {
    if let held = encryption.takeHeld() { write(held.changes, held.then) }
  }

  private func write(_ operations: [StoreOperation], _ then: @escaping (Bool) -> Void) {
    guard let store else { return then(false) }
    guard !operations.isEmpty else { return then(true) }
    store.write(operations.map(change)) { [self] isStored in
      if !isStopped { then(isStored) }
    }
  }

  private func change(_ operation: StoreOperation) -> KeyValueStore.Change {
    switch operation {
    case .put(let key, let value): .put(key.string, value)
    case .delete(let key): .delete(key.string)
    case .deleteAll(let prefix): .deletePrefix(prefix.string)
    }
  }
}

extension Endpoint.Method {
  var name: String {
    switch self {
    case .get: "GET"
    case .put: "PUT"
    case .post: "POST"
    case .delete: "DELETE"
    }
  }
}
