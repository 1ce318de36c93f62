import MatrixModel

extension PowerLevels {
  /// Whether a redaction that the authorization rules allowed takes effect on an event of `original`.
  ///
  /// Looser than `canRedact(eventOf:by:)`, which is what a client may ask of its server: users of one server answer for each
  /// other. Spec: room version 3, "Handling redactions".
  package func redactionTakesEffect(by sender: UserID, onEventOf original: UserID) -> Bool {
    level(of: sender) >= required(.redact) || sender.serverName == original.serverName
  }
}
