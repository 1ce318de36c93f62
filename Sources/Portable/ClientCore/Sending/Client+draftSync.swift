import JSON
import MatrixModel

/// Drafts follow the account, in its data of the room: `martlet.draft`, in a thread `martlet.draft.ROOT`. Who wrote last has the say.
/// Documentation/Extensions.md
struct PassedDrafts: Sendable {
  /// Those the server is to hear of.
  var waiting: [DraftPlace] = []
  var timer: TimerID?
}

/// What is known of a draft beyond what it says.
struct DraftMark: Sendable {
  let thread: EventID?
  /// When it became what it is, also where it is gone.
  var time: Int64 = 0
  /// Whether the server has it.
  var isPassed = false
}

extension Room {
  /// Returns the index of the mark for this draft, which is created if necessary.
  mutating func draftMark(_ thread: EventID?) -> Int {
    if let known = draftMarks.firstIndex(where: { $0.thread == thread }) { return known }
    draftMarks.append(DraftMark(thread: thread))
    return draftMarks.count - 1
  }
}

extension Client {
  private static var draftType: ByteString { "martlet.draft" }

  private static func draftType(_ thread: EventID?) -> ByteString {
    thread.map { ByteString(draftType.string + "." + $0.string) } ?? draftType
  }

  /// The draft is another one here. What is sent soon after it was begun is nobody else's affair.
  mutating func passOn(_ place: DraftPlace) {
    guard syncsDrafts, let mark = rooms[place.room]?.draftMark(place.thread) else { return }
    rooms[place.room]?.draftMarks[mark].time = now
    if !drafts.passed.waiting.contains(place) { drafts.passed.waiting.append(place) }
    if drafts.passed.timer == nil { drafts.passed.timer = startTimer(Limits.draftSyncMilliseconds, .draftSync) }
  }

  mutating func sendDrafts() {
    drafts.passed.timer = nil
    // Without a network they wait for the next change.
    guard isOnline, sessionState == .signedIn, let user = session?.userID else { return }
    let places = drafts.passed.waiting
    drafts.passed.waiting = []
    for place in places {
      guard let mark = rooms[place.room]?.draftMark(place.thread), let room = rooms[place.room], room.membership == .join else {
        continue
      }
      // What is written in an encrypted room is not for the server to read; what it has of a time before is taken away.
      let draft = room.isEncrypted ? nil : room.drafts[place.thread]
      let time = room.draftMarks[mark].time
      guard draft?.text.count ?? 0 <= Limits.passedDraftBytes, draft != nil || room.draftMarks[mark].isPassed else { continue }
      rooms[place.room]?.draftMarks[mark].isPassed = draft != nil
      let body = JSONWriter.object { writer in
        writer.member("at", time)
        draft?.writeMembers(to: &writer)
      }
      let path = Endpoint.setAccountDataPerRoom.path(user.text, place.room.text, Client.draftType(place.thread))
      request(.setAccountDataPerRoom, path, body: body, for: .forgettable)
    }
  }

  /// What another device of the account wrote, or this one: its own come back with the time they have already.
  mutating func takeDrafts(_ events: [Event], in id: RoomID) {
    guard syncsDrafts else { return }
    for event in events {
      let name = event.type.text.utf8.dropFirst(Client.draftType.count)
      let thread = name.first == UInt8(ascii: ".") ? EventID(ByteString(decoding: name.dropFirst())) : nil
      guard name.isEmpty || thread != nil, rooms[id]?.draftMarks.count ?? 0 < Limits.passedDrafts,
        let mark = rooms[id]?.draftMark(thread), let room = rooms[id],
        let time = event.content.integer("at"), time > room.draftMarks[mark].time
      else { continue }
      let draft = Draft(event.content)
      guard draft?.text.count ?? 0 <= ContentLimits.contentBytes else { continue }
      rooms[id]?.draftMarks[mark].time = time
      rooms[id]?.draftMarks[mark].isPassed = draft != nil
      if draft != room.drafts[thread] { put(draft ?? Draft(""), at: DraftPlace(room: id, thread: thread)) }
    }
  }
}
