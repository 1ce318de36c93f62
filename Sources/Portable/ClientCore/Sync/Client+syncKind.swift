import JSON
import MatrixModel

/// Which kind of sync it is to be.
extension Client {
  /// Whether that is known; the server is asked for what it offers otherwise.
  mutating func chooseKind() -> Bool {
    switch syncMode {
    case .v3: use(.v3)
    case .sliding: use(.sliding)
    case .automatic:
      // Sliding sync has no presence.
      if observesPresence {
        use(.v3)
        return true
      }
      guard syncLoop.offer == .wanted || syncLoop.offer == .unknown && syncLoop.position.token == nil else { return true }
      // Some servers offer it to some accounts only.
      syncLoop.request = request(.getVersions, Endpoint.getVersions.path(), sendsToken: true, for: .syncOffer)
      return false
    }
    return true
  }

  mutating func syncOfferAnswered(_ answer: Answer) {
    syncLoop.request = nil
    guard sessionState == .signedIn else { return }
    if answer.isTransient { return syncFailed(answer) }
    var offersSliding = false
    if case .success(let json) = answer { offersSliding = ServerVersions(json)?.has(Self.slidingFeature) ?? false }
    syncLoop.offer = .known
    use(offersSliding ? .sliding : .v3)
    startSync()
  }

  static let slidingFeature: ByteString = "org.matrix.simplified_msc3575"

  mutating func goesOnSliding(after error: MatrixError) -> Bool {
    if error.code == .unknownPosition, syncLoop.position.token != nil {
      syncLoop.beginAnew(.sliding)
      // A server that forgets every position must not be asked without pause.
      let isFirst = syncLoop.lostPositions.failures == 0
      _ = syncLoop.lostPositions.next(&random)
      return isFirst
    }
    guard syncMode == .automatic, error.code == .unrecognized || error.code == .guestAccessForbidden || error.status == 404
    else { return false }
    syncLoop.offer = .known
    syncLoop.beginAnew(.v3)
    return true
  }
}

extension ErrorCode {
  /// MSC4186: the connection is to begin anew.
  static let unknownPosition: ErrorCode = "M_UNKNOWN_POS"
}
