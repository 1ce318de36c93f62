import JSON
import MatrixModel

/// What one sync tells of one room, in whichever way it was asked for.
struct RoomNews: Sendable {
  let id: RoomID
  let membership: Membership
  /// Whether the room is told from its beginning, whatever was told before.
  var isWhole = false
  /// Lists of state events: all of it where the room is told whole, what has changed otherwise.
  var state: [JSON] = []
  /// nil if the sync has none, as for rooms that the user is only invited to.
  var timeline: Timeline?
  var summary: JSON?
  var notifications: Int?
  var highlights: Int?
  /// Counts by the root of the thread, which the others then leave out.
  var threads: JSON?
  var ephemeral: [JSON] = []
  var accountData: [JSON] = []
  // Sliding sync
  var joined: Int?
  var invited: Int?
  var heroes: JSON?
  var bumpStamp: Int64?

  struct Timeline: Sendable {
    /// The oldest first.
    let events: JSON?
    var isLimited: Bool
    var previousBatch: ByteString?
    /// How many events at the end happened since the last sync; nil for all.
    var liveCount: Int?
    /// Whether it goes back behind what was told before, because more is wanted now.
    var isExpanded = false

    /// How many of the events belong to the last stay in the room. Those behind are about the own membership of one who is out; what
    /// lies between is shown only to who comes back, and comes then, with them.
    func stay(of user: UserID, wasIn: Bool) -> Int {
      var isIn = wasIn
      var end = wasIn ? Int.max : 0
      var index = 0
      for json in events.map({ Array($0.elements) }) ?? [] {
        index += 1
        guard json["type"]?.isString("m.room.member") ?? false, json.text("state_key") == user.text,
          let membership = Membership(json["content"]?["membership"])
        else { continue }
        let before = Membership(json["unsigned"]?["prev_content"]?["membership"])
        if membership == .join {
          end = Int.max
        } else if before.map({ $0 == .join }) ?? isIn {
          end = index
        } else if end == Int.max {
          // Where one went is in what the timeline leaves out.
          end = index - 1
        }
        isIn = membership == .join
      }
      return end
    }
  }
}

extension RoomNews {
  /// A room of a v3 sync. Spec: "Syncing".
  init(v3 json: JSON, _ id: RoomID, _ membership: Membership, isWhole: Bool) {
    self.init(id: id, membership: membership, isWhole: isWhole)
    for section in [json["state"], json["invite_state"], json["knock_state"]] {
      if let events = section?["events"] { state.append(events) }
    }
    timeline = json["timeline"].map { timeline in
      Timeline(
        events: timeline["events"], isLimited: timeline.bool("limited") ?? false,
        previousBatch: timeline.text("prev_batch"), liveCount: isWhole ? 0 : nil)
    }
    summary = json["summary"]
    if let counts = json["unread_notifications"] {
      notifications = counts["notification_count"]?.count32 ?? 0
      highlights = counts["highlight_count"]?.count32 ?? 0
      threads = json["unread_thread_notifications"]
    }
    if let events = json["ephemeral"]?["events"] { ephemeral = Array(events.elements) }
    if let events = json["account_data"]?["events"] { accountData = Array(events.elements) }
  }
}
