import JSON
import MatrixModel

/// A poll and how it stands. MSC3381, stable and unstable names.
///
/// A person's last vote before the end counts; a vote for an answer that does not exist counts as none; of too many answers the first
/// ones count. Only who asked or may redact others' events can end it.
public struct Poll: Sendable {
  public struct Answer: Sendable {
    public let id: ByteString
    public let text: ByteString
    /// In the order of user IDs. While a poll's answers are hidden, only the user's own vote.
    public package(set) var voters: [UserID] = []
    public package(set) var isOwn = false

    public init(id: ByteString, text: ByteString) {
      self.id = id
      self.text = text
    }
  }

  public let question: ByteString
  /// Whether votes can be seen before the end.
  public let isDisclosed: Bool
  /// How many answers one may choose, at least 1.
  public let selectionLimit: Int
  public package(set) var answers: [Answer]
  /// People whose vote counts, also where it cannot be seen yet.
  public package(set) var voterCount = 0
  /// nil while it goes on.
  public package(set) var endedAtMilliseconds: Int64?

  public var showsVotes: Bool { isDisclosed || endedAtMilliseconds != nil }

  public init(question: ByteString, answers: [Answer], isDisclosed: Bool = true, selectionLimit: Int = 1) {
    self.question = question
    self.answers = answers
    self.isDisclosed = isDisclosed
    self.selectionLimit = max(1, selectionLimit)
  }
}
