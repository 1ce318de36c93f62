import JSON
import MatrixModel

/// The way into sliding sync. By values, so that a program that has none of it need not carry its code (the page's is measured by it).
struct SlidingChapter: Sendable {
  let choose: @Sendable (inout Client) -> Bool
  let offered: @Sendable (inout Client, Answer) -> Void
  let request: @Sendable (inout Client) -> Void
  let prepare: @Sendable (Client, JSON, UserID) -> PreparedSync?
  let goesOn: @Sendable (inout Client, MatrixError) -> Bool
  let renewSubscriptions: @Sendable (inout Client) -> Void
}

extension Client {
  /// How it asks for what is new: v3 unless told otherwise. Before `Input.start`. A store that was synced in another way goes on with what it
  /// has: it loses nothing and shows nothing twice.
  public mutating func sync(by mode: SyncMode) {
    syncMode = mode
    slidingChapter =
      mode == .v3
      ? nil
      : SlidingChapter(
        choose: { $0.chooseKind() }, offered: { $0.syncOfferAnswered($1) }, request: { $0.requestSliding() },
        prepare: { $0.prepareSliding($1, ownUserID: $2) }, goesOn: { $0.goesOnSliding(after: $1) },
        renewSubscriptions: { $0.renewSubscriptions() })
  }

  /// Whether it is known in which way to sync.
  mutating func chooseSync() -> Bool {
    if let slidingChapter { return slidingChapter.choose(&self) }
    use(.v3)
    return true
  }

  mutating func use(_ kind: SyncPosition.Kind) {
    if syncLoop.position.kind != kind { syncLoop.beginAnew(kind) }
  }

  /// Whether another request at once is the way on from a refusal.
  mutating func goesOn(after error: MatrixError) -> Bool {
    switch syncLoop.position.kind {
    case .v3: forgetsFilter(refusedBy: error)
    case .sliding: slidingChapter?.goesOn(&self, error) ?? false
    }
  }
}
