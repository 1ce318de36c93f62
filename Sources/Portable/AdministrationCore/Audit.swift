import JSON
import MatrixModel
import ServerQueries

/// Something an administrator did.
package struct AuditEntry: Listed, Hashable {
  package let number: Int64
  /// Milliseconds since 1970.
  package let time: Int64
  /// A user ID, or `operator`.
  package let actor: ByteString
  /// `user.lock`, `room.delete` …
  package let action: ByteString
  package let target: ByteString
  /// `name: value, name: value`; empty without any.
  package let details: ByteString
  /// `done`, the code of a refusal, or nil if it was interrupted.
  package let outcome: ByteString?

  package var key: ByteString { ByteString("\(number)") }
  package var isDone: Bool { outcome == ("done" as ByteString) }

  init?(_ json: JSON) {
    guard let number = json.integer("entry") else { return nil }
    self.number = number
    time = json.integer("time") ?? 0
    actor = json.text("actor") ?? ""
    action = json.text("action") ?? ""
    target = json.text("target") ?? ""
    outcome = json.text("outcome")
    var details: [UInt8] = []
    for member in json["details"]?.members.map({ $0 }) ?? [] {
      if !details.isEmpty { details += Array(", ".utf8) }
      details += Array(member.key.utf8) + Array(": ".utf8)
      if let text = member.value.text { details += Array(text.utf8) } else { details += Array(member.value.bytes) }
    }
    self.details = ByteString(decoding: details)
  }
}

extension Endpoint {
  fileprivate static let audit = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/audit", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Audit log".
extension Query {
  /// The newest first.
  ///
  /// - Parameters:
  ///   - actor: a user ID or `operator`; empty for everybody.
  ///   - action: the beginning of an action, such as `user.`; empty for all.
  package static func audit(
    by actor: ByteString, of action: ByteString, before: Int64?, limit: Int
  ) -> Query<PagedList<AuditEntry>.Page> {
    let parameters = URLQuery().adding("actor", actor.isEmpty ? nil : actor).adding("action", action.isEmpty ? nil : action)
      .adding("before", before).adding("limit", limit)
    return Query<PagedList<AuditEntry>.Page>(.audit, Endpoint.audit.path(), parameters: parameters) { json in
      json.page("entries", before: "next_before") { AuditEntry($0) }
    }
  }
}
