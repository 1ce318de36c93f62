import JSON
import MatrixModel

/// Polls. MSC3381.
extension Relations {
  /// Counts the votes anew.
  func count(_ poll: inout Poll, _ id: EventID, of item: TimelineItem, ownUserID: UserID) {
    let about = about(id)
    // A server could otherwise vote for those who vote encrypted.
    func counts(_ vote: Vote) -> Bool { vote.wasEncrypted || !item.wasEncrypted }
    let end = (about?.pollEnds ?? []).filter { mayEnd(pollOf: item.sender, $0.sender) && counts($0) }.min {
      ($0.timestampMilliseconds, $0.event) < ($1.timestampMilliseconds, $1.event)
    }
    poll.endedAtMilliseconds = end?.timestampMilliseconds
    var last: [UserID: Vote] = [:]
    for vote in about?.votes ?? [] where counts(vote) {
      if let end, vote.timestampMilliseconds > end.timestampMilliseconds { continue }
      if let known = last[vote.sender],
        (known.timestampMilliseconds, known.event) > (vote.timestampMilliseconds, vote.event)
      {
        continue
      }
      last[vote.sender] = vote
    }
    for i in poll.answers.indices {
      poll.answers[i].voters = []
      poll.answers[i].isOwn = false
    }
    poll.voterCount = 0
    for vote in last.values.ordered(by: { $0.sender < $1.sender }) { add(vote, to: &poll, ownUserID: ownUserID) }
  }

  private func add(_ vote: Vote, to poll: inout Poll, ownUserID: UserID) {
    var chosen: [Int] = []
    for id in vote.selections {
      // A vote for what is not among the answers is spoiled as a whole.
      guard let i = poll.answers.firstIndex(where: { $0.id == id }) else { return }
      if chosen.count < poll.selectionLimit { chosen.append(i) }
    }
    guard !chosen.isEmpty else { return }
    poll.voterCount += 1
    let isOwn = vote.sender == ownUserID
    for i in chosen {
      if isOwn { poll.answers[i].isOwn = true }
      if isOwn || poll.showsVotes { poll.answers[i].voters.append(vote.sender) }
    }
  }

  private func mayEnd(pollOf creator: UserID, _ user: UserID) -> Bool {
    user == creator || power?.canRedact(eventOf: creator, by: user) ?? false
  }
}
