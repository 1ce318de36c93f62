import Database
import JSON
import MatrixModel

// What shadow-banned users do is done and then undone, so that they are answered as anyone, with the errors of anyone. They come
// and go as themselves: who is not seen to come would know.
extension Rooms {
  /// As `edit`, for what a user does.
  package func edit<Value: Sendable>(
    _ roomID: RoomID, by actor: Actor, asking questions: @escaping @Sendable () -> [Question] = { [] },
    _ body: @escaping @Sendable (inout RoomEditor) throws -> Value
  ) async throws -> Value {
    guard actor.isShadowBanned else { return try await edit(roomID, asking: questions, body) }
    do {
      return try await edit(roomID) { editor in
        let value = try body(&editor)
        guard editor.appended.allSatisfy({ $0.isComingOrGoing(of: actor.userID) }) else { throw Undone(value: value) }
        return value
      }
    } catch let undone as Undone<Value> {
      return undone.value
    }
  }

  /// Ends a command that nothing is to come of.
  private struct Undone<Value: Sendable>: Error {
    let value: Value
  }
}

extension Rooms.Actor {
  /// What others are to learn of the reason that a user gives for coming or going.
  package func heard(_ reason: String?) -> String? { isShadowBanned ? nil : reason }

  /// The same of a member event's content.
  func heard(_ content: JSON) throws -> JSON {
    guard isShadowBanned, let membership = content["membership"] else { return content }
    return try JSON.object { $0.member("membership", membership) }
  }
}

extension RoomCreation {
  /// The same room with nobody asked into it, in no list.
  var unseen: RoomCreation {
    var creation = self
    creation.invited = []
    creation.additionalCreators = []
    creation.isPublished = false
    creation.initialState.removeAll { $0.type == .member }
    return creation
  }
}

extension StoredEvent {
  /// Whether by it a user joins or leaves, and does not merely look different there.
  fileprivate func isComingOrGoing(of user: UserID) -> Bool {
    guard type == .member, stateKey == user.text, let membership = Membership(content["membership"]) else { return false }
    return membership != .knock && membership != replaced?.membership
  }
}
