import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms

/// Full text of rooms.
extension Routes {
  mutating func addSearchRoutes() {
    let search = homeserver.search
    let clock = homeserver.configuration.clock

    on(.search) { request, session in
      let categories = try await request.object().requiredObject("search_categories")
      guard let wanted = try categories.optionalObject("room_events") else {
        return .json { $0.object { $0.member("search_categories", raw: Array("{}".utf8)) } }
      }
      let results = try await search.search(
        try SearchRequest(wanted, nextBatch: try request.query().text("next_batch")), for: session.userID)
      let reader = session.reader(clock, results.aggregations)
      return .json(capacity: results.results.count * 1_024 + 256) { writer in
        writer.object { writer in
          writer.key("search_categories")
          writer.object { writer in
            writer.key("room_events")
            writer.object { results.write(to: &$0, reader) }
          }
        }
      }
    }
  }
}

extension SearchResults {
  fileprivate func write(to writer: inout JSONWriter, _ reader: EventReader) {
    writer.member("count", count)
    writer.array("highlights", highlights) { $1.write($0) }
    writer.array("results", results) { $0.write(to: &$1, reader) }
    if let nextBatch { writer.member("next_batch", nextBatch) }
    if !groups.isEmpty { writeGroups(to: &writer) }
    guard !state.isEmpty else { return }
    writer.key("state")
    writer.object { writer in
      for (roomID, events) in state {
        writer.key(roomID)
        writer.array { writer in for event in events { event.write(to: &writer, for: reader, roomID: roomID) } }
      }
    }
  }

  private func writeGroups(to writer: inout JSONWriter) {
    writer.key("groups")
    writer.object { writer in
      for grouping in SearchRequest.Grouping.allCases {
        let groups = groups.filter { $0.grouping == grouping }
        guard !groups.isEmpty else { continue }
        writer.key(grouping.name)
        writer.object { writer in
          for group in groups {
            writer.key(group.value)
            writer.object { writer in
              writer.array("results", group.eventIDs) { $1.write($0) }
              writer.member("order", group.order)
              if let nextBatch = group.nextBatch { writer.member("next_batch", nextBatch) }
            }
          }
        }
      }
    }
  }
}

extension SearchResults.Result {
  fileprivate func write(to writer: inout JSONWriter, _ reader: EventReader) {
    writer.object { writer in
      writer.member("rank", raw: Self.decimal(billionths: rank))
      writer.key("result")
      event.write(to: &writer, for: reader, roomID: view.room.roomID, membership: view.membership(at: event))
      guard let surroundings else { return }
      var plain = reader
      plain.aggregations = .none
      writer.key("context")
      writer.object { writer in
        writer.member("start", surroundings.start.text)
        writer.member("end", surroundings.end.text)
        writer.events("events_before", surroundings.before, plain, view)
        writer.events("events_after", surroundings.after, plain, view)
        if let profiles = surroundings.profiles { Self.write(profiles, to: &writer) }
      }
    }
  }

  private static func write(_ profiles: [StoredEvent], to writer: inout JSONWriter) {
    writer.key("profile_info")
    writer.object { writer in
      for member in profiles {
        writer.key(member.stateKey ?? "")
        writer.object { writer in
          if let name = member.content["displayname"]?.text { writer.member("displayname", name) }
          if let avatar = member.content["avatar_url"]?.text { writer.member("avatar_url", avatar) }
        }
      }
    }
  }

  /// A JSON number with nine decimals.
  private static func decimal(billionths: Int64) -> [UInt8] {
    let digits = String(billionths.magnitude)
    let padded = String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits
    return Array(((billionths < 0 ? "-" : "") + padded.dropLast(9) + "." + padded.suffix(9)).utf8)
  }
}
