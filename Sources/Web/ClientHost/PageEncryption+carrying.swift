import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import WebHost

/// Store, requests and time for the machine.
extension PageEncryption {
  /// What goes into the store before the client's own changes, and what to call when the batch is, or is not, stored. nil where nothing is held.
  package func takeHeld() -> (changes: [StoreOperation], then: (Bool) -> Void)? {
    guard !held.changes.isEmpty || !held.later.isEmpty || !held.requests.isEmpty else { return nil }
    let step = held
    held = EncryptionReport.Step()
    return (step.changes.map { StoreOperation($0) }, { [self] in release(step, isStored: $0) })
  }

  private func release(_ step: EncryptionReport.Step, isStored: Bool) {
    guard send != nil else { return }
    guard isStored else { return lose() }
    for delivery in step.later { deliver(delivery) }
    for request in step.requests { ask(request) }
  }

  private func ask(_ request: EncryptionReport.Request) {
    let method = Endpoint.Method(rawValue: request.method) ?? .get
    let body = request.body.isEmpty ? nil : request.body
    let endpoint = Endpoint(method, "", rateLimited: true)
    let query = QueryRequest(endpoint: endpoint, target: request.target.string, body: body)
    let way = resetting == nil ? ask : askSurely
    way(query) { [self] result in
      switch result {
      case .answer(let json): say(.answered(request.id, body: Array(json.bytes)))
      case .failed(let error): say(.failed(request.id, isFinal: error.isFinal))
      }
    }
  }

  func load(_ prefixes: [ByteString]) {
    read(prefixes) { [self] records in say(.loaded(records.map { LinkRecord(key: $0.key, value: $0.value) })) }
  }

  func setWakeTimer(_ at: Int64?) {
    guard wakeTimer?.at != at else { return }
    wakeTimer?.task.cancel()
    wakeTimer = nil
    guard let at else { return }
    let task = Host.after(milliseconds: Double(max(0, at - Host.wallClockMilliseconds()))) { [self] in
      wakeTimer = nil
      say(.woken)
    }
    wakeTimer = (at, task)
  }
}

extension StoreOperation {
  fileprivate init(_ change: EncryptionReport.Change) {
    switch change {
    case .put(let record): self = .put(key: record.key, value: record.value)
    case .delete(let key): self = .delete(key: key)
    }
  }
}
