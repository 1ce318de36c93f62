import JSON
import MatrixModel

/// The filter of v3 syncs: made on the server once, then named. Spec: "Filtering", "Lazy-loading room members".
struct SyncFilter: Sendable {
  /// As the server calls it; nil where it is not known there.
  var id: ByteString?
  var request: RequestID?
  /// The server would not take it: it goes with every request.
  var isRefused = false

  /// Room events with their members loaded lazily, no presence.
  static let definition = definition(#""presence":{"not_types":["*"]},"#)

  private static func definition(_ presence: String) -> ByteString {
    ByteString(
      "{" + presence + #""room":{"state":{"lazy_load_members":true},"timeline":{"limit":"# + "\(Limits.syncEvents)"
        + #","unread_thread_notifications":true,"lazy_load_members":true}}}"#)
  }

  private static let inline = PercentEncoding.encode(definition)
  private static let inlineWithPresence = PercentEncoding.encode(definition(""))

  /// What goes with a request: the name, or all of it.
  func query(withPresence: Bool) -> String {
    if withPresence { return Self.inlineWithPresence }
    return id.map { PercentEncoding.encode($0) } ?? Self.inline
  }

  init() {}

  // MARK: Record

  static func record(id: ByteString) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("id", id)
      writer.member("definition", definition)
    }
    return writer.bytes
  }

  /// Without an ID where it was made from another definition.
  init(record: JSON) {
    if record.text("definition") == Self.definition { id = record.text("id") }
  }
}

extension Client {
  /// Once the first sync is there, which did not have to wait for it.
  mutating func createFilter() {
    guard isOnline, syncLoop.position.kind == .v3, syncFilter.id == nil, syncFilter.request == nil, !syncFilter.isRefused,
      let user = session?.userID
    else { return }
    syncFilter.request = request(
      .defineFilter, Endpoint.defineFilter.path(user.text), body: Array(SyncFilter.definition.utf8), for: .syncFilter)
  }

  mutating func filterAnswered(_ answer: Answer) {
    syncFilter.request = nil
    guard case .success(let json) = answer, let id = json.text("filter_id"), !id.isEmpty, id.utf8.first != UInt8(ascii: "{")
    else {
      // What is only late is tried with the next sync.
      syncFilter.isRefused = !answer.isTransient
      return
    }
    syncFilter.id = id
    write([.put(key: StoreKey.filter, value: SyncFilter.record(id: id))])
  }

  /// Whether the server may have lost the filter: then it goes with the request.
  mutating func forgetsFilter(refusedBy error: MatrixError) -> Bool {
    guard syncFilter.id != nil, error.status == 400 || error.status == 404 else { return false }
    syncFilter = SyncFilter()
    syncFilter.isRefused = true
    write([.delete(key: StoreKey.filter)])
    return true
  }
}
