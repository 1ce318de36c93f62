import JSON
import MatrixModel

@testable import ClientCore

/// A homeserver as far as sending goes: one room, requests with a transaction ID do their work once, syncs from any position.
struct ModelServer {
  struct Entry {
    let id: String
    let type: String
    var content: String
    let transaction: String
    var redacts: String?
    var isRedacted = false
  }

  private(set) var events: [Entry] = []
  private var eventOfTransaction: [String: String] = [:]

  /// The server takes the request; its answer is another matter. nil where it refuses.
  mutating func take(_ request: HTTPRequest) -> String? {
    let path = request.target.split(separator: "/").map { decoded(String($0)) }
    guard let transaction = path.last, let verb = path.firstIndex(where: { $0 == "send" || $0 == "redact" }) else { return nil }
    if let known = eventOfTransaction[transaction] { return known }
    let id = "$e\(events.count)"
    var entry = Entry(
      id: id, type: path[verb] == "send" ? path[verb + 1] : "m.room.redaction",
      content: String(decoding: request.body ?? [], as: UTF8.self), transaction: transaction)
    if path[verb] == "redact" {
      entry.redacts = path[verb + 1]
      guard let i = events.firstIndex(where: { $0.id == path[verb + 1] }) else { return nil }
      events[i].isRedacted = true
      events[i].content = "{}"
    } else if isDuplicate(entry) {
      return nil
    }
    events.append(entry)
    eventOfTransaction[transaction] = id
    return id
  }

  private func isDuplicate(_ entry: Entry) -> Bool {
    guard entry.type == "m.reaction" else { return false }
    return events.contains { $0.type == entry.type && !$0.isRedacted && $0.content == entry.content }
  }

  private func decoded(_ part: String) -> String {
    String(decoding: PercentEncoding.decode(Array(part.utf8)[...]) ?? [], as: UTF8.self)
  }

  func sync(since: Int?) -> String {
    let shown = (since ?? 0)..<events.count
    guard since == nil || !shown.isEmpty else { return #"{"next_batch":"\#(events.count)"}"# }
    let room = Wire.join(
      shown.map(json), state: since == nil ? Wire.members : [], token: since == nil ? nil : "t", extra: Wire.counts)
    return #"{"next_batch":"\#(events.count)","rooms":{"# + room + "}}"
  }

  private func json(_ i: Int) -> String {
    let event = events[i]
    var unsigned = #"{"transaction_id":"\#(event.transaction)""#
    if event.isRedacted { unsigned += #","redacted_because":{"type":"m.room.redaction"}"# }
    return Wire.event(
      event.type, event.id, by: "@me:test", time: 1_700_000_000_000 + i, event.content, unsigned: unsigned + "}",
      extra: event.redacts.map { #","redacts":"\#($0)""# } ?? "")
  }

  // MARK: Looking

  /// Own messages that are still there, each with its newest text and the keys of its reactions.
  var messages: [(id: String, text: String, reactions: [String])] {
    events.filter { $0.type == "m.room.message" && !$0.isRedacted && relation($0)?["rel_type"]?.string != "m.replace" }.map {
      event in
      var text = parsed(event)?["body"]?.string ?? ""
      var reactions: [String] = []
      for other in events where !other.isRedacted && relation(other)?["event_id"]?.string == event.id {
        if relation(other)?["rel_type"]?.string == "m.replace" { text = parsed(other)?["m.new_content"]?["body"]?.string ?? "" }
        if other.type == "m.reaction" { reactions.append(relation(other)?["key"]?.string ?? "") }
      }
      return (event.id, text, reactions.sorted())
    }
  }

  func relation(_ event: Entry) -> JSON? { parsed(event)?["m.relates_to"] }
  func parsed(_ event: Entry) -> JSON? { try? JSON.parse(Array(event.content.utf8)) }
}
