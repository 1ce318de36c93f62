/// Where rows stand in the list. Hosts speak in the order of the conversation whatever the policy is: the end is what is new.
public struct ListPolicy: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// As comments stand: the newest row is on top, where the reader begins and typing rows are; older rows are fetched at the bottom.
  public static let newestFirst = ListPolicy(rawValue: 1)
  /// A message that answers one of the list (`ReplyQuote.row`) stands beneath it, behind the answers it has, and needs no quote. Answers to
  /// an answer stand beneath the same message. One that came before what it answers stays where it is.
  public static let answersBeneath = ListPolicy(rawValue: 2)
}

/// Rows as they will stand, from top to bottom.
struct Arrangement {
  var rows: [TimelineRow] = []
  /// Those of them that stand beneath another.
  var answers: [RowID] = []
  /// Answers to rows that are in the list, the oldest first.
  var elsewhere: [(row: TimelineRow, answered: RowID)] = []
}

extension Timeline {
  var newestIndex: Int { geometry.newestIsFirst ? 0 : store.count - 1 }
  var newestEdge: Int { geometry.newestIsFirst ? 0 : store.count }
  var oldestEdge: Int { geometry.newestIsFirst ? store.count : 0 }

  /// The message that a row stands beneath; the row itself if it stands beneath none.
  func top(ofBlock index: Int) -> Int {
    var top = index
    while top > 0, store[top].isAnswer { top -= 1 }
    return top
  }

  /// Where the next message after the row and its answers begins.
  func end(ofBlock index: Int) -> Int {
    var end = index + 1
    while end < store.count, store[end].isAnswer { end += 1 }
    return end
  }

  /// Where a neighbour of the row comes in: never between a message and its answers.
  func edge(of index: Int, isNewer: Bool) -> Int {
    isNewer == geometry.newestIsFirst ? top(ofBlock: index) : end(ofBlock: index)
  }

  /// Makes these all rows.
  func fill(_ rows: [TimelineRow]) {
    guard placing != nil else { return store.replaceAll(rows) }
    store.replaceAll([])
    geometry.heights.replaceAll([])
    var transaction = Transaction(candidates: [])
    put(rows, at: 0, &transaction)
  }

  /// Puts in rows that follow each other from the oldest to the newest.
  func put(_ rows: [TimelineRow], at index: Int, _ transaction: inout Transaction) {
    if let placing { placing(self, rows, index, &transaction) } else { insert(rows, at: index, &transaction) }
  }
}

// MARK: What only lists with a policy have

extension Timeline {
  /// How rows stand, to be said before there are any.
  public func use(_ policy: ListPolicy) {
    geometry.newestIsFirst = policy.contains(.newestFirst)
    // By functions, so that programs whose lists have no policy have none of it.
    placing = { timeline, rows, index, transaction in timeline.place(rows, at: index, policy, &transaction) }
    beforeRemoval = { timeline, index in timeline.store.freeAnswers(to: index) }
  }

  private func place(_ rows: [TimelineRow], at index: Int, _ policy: ListPolicy, _ transaction: inout Transaction) {
    let arranged = arrange(rows, policy)
    insert(arranged.rows, at: index, &transaction)
    for id in arranged.answers { store.setAnswer(id) }
    for (row, answered) in arranged.elsewhere {
      guard let root = store.index(of: answered) else { continue }
      insert([row], at: end(ofBlock: root), &transaction)
      store.setAnswer(row.id)
    }
  }

  private func arrange(_ rows: [TimelineRow], _ policy: ListPolicy) -> Arrangement {
    var arrangement = Arrangement()
    // A message and its answers are one block. Rows that are known are updated in their place, so they only pass.
    var blocks: [[TimelineRow]] = []
    var places: [RowID: Int] = [:]
    for row in rows {
      let answered = store.index(of: row.id) == nil && policy.contains(.answersBeneath) ? row.answered : nil
      if let answered, let place = places[answered] {
        blocks[place].append(row)
        places[row.id] = place
        arrangement.answers.append(row.id)
      } else if let answered, store.index(of: answered) != nil {
        arrangement.elsewhere.append((row, answered))
      } else {
        places[row.id] = blocks.count
        blocks.append([row])
      }
    }
    if geometry.newestIsFirst { blocks.reverse() }
    for block in blocks { arrangement.rows += block }
    return arrangement
  }
}

extension RowStore {
  mutating func setAnswer(_ id: RowID) { if let index = index(of: id) { mark(index, isAnswer: true) } }

  /// The answers to a message that goes are messages like others.
  mutating func freeAnswers(to index: Int) {
    guard !self[index].isAnswer else { return }
    var answer = index + 1
    while answer < count, self[answer].isAnswer {
      mark(answer, isAnswer: false)
      answer += 1
    }
  }
}

extension TimelineRow {
  /// The row that this one answers.
  var answered: RowID? {
    guard case .message(let message) = content else { return nil }
    return message.surroundings?.reply?.row
  }
}
