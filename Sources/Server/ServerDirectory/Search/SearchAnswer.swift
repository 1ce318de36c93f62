import Database
import MatrixModel
import ServerRooms

/// Puts together what a search answers beside the events it found.
struct SearchAnswer {
  let request: SearchRequest
  let scope: SearchScope
  let transaction: ReadTransaction
  let erasures: Erasures

  func results(of finder: MatchFinder) throws -> SearchResults {
    var results = SearchResults()
    results.count = finder.count
    results.highlights = finder.query.terms.map { $0.lowercased() }
    results.nextBatch = finder.next?.text
    for (event, view, rank) in finder.found {
      results.results.append(
        SearchResults.Result(
          event: event, view: view, rank: rank, surroundings: try surroundings(of: event, in: view)))
    }
    results.groups = groups(of: results.results, finder.next)
    let views = Dictionary(finder.found.map { ($0.view.room.number, $0.view) }, uniquingKeysWith: { first, _ in first })
    for (number, view) in views {
      let events = finder.found.map(\.event).filter { $0.room == number }
      let reader = AggregationReader(view: view, transaction: transaction, erasures: erasures)
      results.aggregations.entries.merge(try reader.aggregations(of: events).entries) { first, _ in first }
      if request.includesState { results.state.append((view.room.roomID, try state(of: view))) }
    }
    return results
  }

  /// As of now, or of when the user left.
  private func state(of view: RoomView) throws -> [StoredEvent] {
    if let leftAt = view.leftAt { return try RoomLoader(transaction: transaction).state(of: view.room.number, at: leftAt) }
    return view.room.state.values.sorted { $0.position < $1.position } + view.room.members.values.map(\.event)
  }

  private func surroundings(of event: StoredEvent, in view: RoomView) throws -> SearchResults.Surroundings? {
    guard let wanted = request.surroundings else { return nil }
    let loader = RoomLoader(transaction: transaction)
    var before = Pager(view: view, loader: loader, filter: EventFilter(), direction: .backward)
    try before.run(from: event.position - 1, to: nil, limit: wanted.before)
    var after = Pager(view: view, loader: loader, filter: EventFilter(), direction: .forward)
    try after.run(from: event.position, to: nil, limit: wanted.after)
    var profiles: [StoredEvent]?
    if wanted.includesProfiles {
      let senders = Set((before.events + [event] + after.events).map(\.sender))
      profiles = try senders.sorted().compactMap { sender in
        try loader.state(of: view.room.number, .member, sender.text, at: event.position)
      }
    }
    return SearchResults.Surroundings(
      before: try shown(before.events, in: view), after: try shown(after.events, in: view),
      start: TimelineToken(position: before.position),
      end: TimelineToken(position: after.position), profiles: profiles)
  }

  private func shown(_ events: [StoredEvent], in view: RoomView) throws -> [StoredEvent] {
    try erasures.shown(events, to: view.user, in: view.room) { RoomLoader(transaction: transaction) }
  }

  private func groups(of results: [SearchResults.Result], _ next: SearchToken?) -> [SearchResults.Group] {
    request.groupings.flatMap { grouping -> [SearchResults.Group] in
      var groups: [SearchResults.Group] = []
      for result in results {
        let value = grouping == .room ? result.view.room.roomID.text : result.event.sender.text
        if let index = groups.firstIndex(where: { $0.value == value }) {
          groups[index].eventIDs.append(result.event.eventID)
          continue
        }
        var token = next
        token?.group = SearchToken.Group(grouping: grouping, value: value)
        groups.append(
          SearchResults.Group(
            grouping: grouping, value: value, eventIDs: [result.event.eventID], order: groups.count + 1,
            nextBatch: token?.text))
      }
      return groups
    }
  }
}
