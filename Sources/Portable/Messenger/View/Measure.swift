/// What a host may count for figures of its own: that something was tried, and how it ended. The component keeps nothing and sends nothing.
public struct Measure: Equatable, Sendable {
  public enum Action: UInt8, Sendable, CaseIterable {
    /// The host gets a text to decide about. In a text chat with confirmation, it succeeds when it is confirmed.
    case send
    /// Of a text chat.
    case receive, connect, disconnect, close
    /// Rows before the first, or behind the last.
    case fetchOlder, fetchNewer
    /// What a person did with a row; it fails where the host did nothing.
    case act
  }

  public enum Outcome: UInt8, Sendable {
    case attempt, success, failure
  }

  public var action: Action
  public var outcome: Outcome

  public init(_ action: Action, _ outcome: Outcome) {
    self.action = action
    self.outcome = outcome
  }
}

extension MessengerView {
  /// Counts a try that ends at once.
  func measured(_ action: Measure.Action, _ run: () -> Bool) -> Bool {
    onMeasure?(Measure(action, .attempt))
    let isDone = run()
    onMeasure?(Measure(action, isDone ? .success : .failure))
    return isDone
  }

  /// Counts how a fetch ended.
  func measure(_ action: Measure.Action, failed: Bool) {
    onMeasure?(Measure(action, failed ? .failure : .success))
  }
}
