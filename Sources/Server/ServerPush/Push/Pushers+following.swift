import Database
import ServerCore

/// What is remembered of pushers follows their rows.
extension Pushers {
  package func apply(_ note: Note, _ rows: CommittedRows) throws {
    guard case .pusher(let news) = note else { return }
    let id = Pusher.ID(userID: news.user, appID: news.appID, pushkey: news.pushkey)
    try rows.read { tx in
      let pusher = try tx.first(
        """
        SELECT kind, CASE WHEN activation IS NOT NULL AND activation_pushed = 0 THEN 1 ELSE 0 END FROM pusher
        WHERE user_id = $1 AND app_id = $2 AND pushkey = $3
        """, id.userID, id.appID, id.pushkey
      ) { (kind: Pusher.Kind(rawValue: $0.text(0)) ?? .http, isToBeActivated: $0.bool(1)) }
      guard let pusher else { return audience.remove(id) }
      audience.add(id, pusher.kind, in: try PushAudience.rooms(of: id.userID, tx), at: news.position)
      if pusher.isToBeActivated { work.activates(id) }
    }
  }

  package func reload(_ rows: CommittedRows) throws {
    try rows.read { tx in
      let gone = Set(audience.users.flatMap { audience.pushers(of: $0).keys }).subtracting(try PushAudience.pushers(tx).keys)
      try audience.load(tx)
      for id in gone { audience.remove(id) }
    }
  }
}
