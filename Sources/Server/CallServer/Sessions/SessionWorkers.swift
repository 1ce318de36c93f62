import MediaRouter

/// The workers that media of a session goes through, and the rule by which they are chosen: a session fills its home worker, and what comes then goes
/// to the worker that has the fewest transports of all sessions.
package struct SessionWorkers: Sendable {
  /// Where media goes.
  package struct Media: Sendable {
    package let fingerprint: Fingerprint
    /// The best first; not empty.
    package let candidates: [TransportAddress]

    package init(fingerprint: Fingerprint, candidates: [TransportAddress]) {
      self.fingerprint = fingerprint
      self.candidates = candidates
    }
  }

  /// By the numbers of the workers; not empty.
  private let media: [Media]
  /// It has the first transports of the session, and hears who speaks.
  package let home: WorkerID
  /// Transports of the session that fill it.
  private let homeLimit: Int
  /// The transports of all sessions on each worker, counted by the code that carries out the commands.
  package var loads: [Int]

  package init(_ media: [Media], home: WorkerID = WorkerID(0), homeLimit: Int) {
    precondition(media.indices.contains(home.number))
    self.media = media
    self.home = home
    self.homeLimit = homeLimit
    loads = Array(repeating: 0, count: media.count)
  }

  subscript(id: WorkerID) -> Media { media[id.number] }

  /// Which one takes the session's next transport.
  func next(atHome count: Int) -> WorkerID {
    guard count >= homeLimit, let least = media.indices.min(by: { loads[$0] < loads[$1] }) else { return home }
    return WorkerID(least)
  }
}
