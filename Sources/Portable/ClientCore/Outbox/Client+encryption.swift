import JSON
import MatrixModel

/// Clear text never goes into an encrypted room. Spec: "m.room.encryption": once a room is encrypted it stays so.
///
/// This client cannot encrypt yet, so it refuses (`ClientError.encryptedRoom`) every event that a room's members would expect to
/// be encrypted: messages, files, stickers, polls, votes, edits, positions, the signalling of calls (whose session descriptions
/// name the keys of the media: in clear text the server could put itself between the two ends) and events of unknown types.
/// Reactions, redactions and state are not encrypted by any client; `m.room.encrypted` is ciphertext that the app made.
///
/// A room may have become encrypted while nobody was listening. Before something goes out while no sync runs, the server is asked
/// (`GET …/state/m.room.encryption`), once for each event.
extension Client {
  /// Whether that would put clear text into a room that is known to be encrypted.
  func isRefused(_ payload: OutboxPayload, in room: RoomID) -> Bool {
    payload.needsEncryption && rooms[room]?.isEncrypted ?? false
  }

  /// Whether it is known now whether the room is encrypted; if not, the server is asked, and the room goes on with its answer.
  mutating func knowsEncryption(of room: RoomID) -> Bool {
    if rooms[room]?.isEncrypted ?? false { return true }
    if syncLoop.isRunning, syncLoop.position.isComplete { return true }
    if outbox.unencryptedRooms.contains(room) { return true }
    if outbox.encryptionRequests.insert(room).inserted {
      let path = Endpoint.getRoomStateWithKey.path(room.text, EventType.encryption.text, "")
      request(.getRoomStateWithKey, path, for: .encryption(room))
    }
    return false
  }

  mutating func encryptionAnswered(_ answer: Answer, of room: RoomID) {
    // A sync that is being stored brings the room's state as it was before.
    guard syncLoop.prepared == nil else { return syncLoop.deferredAnswers.append((answer, .encryption(room))) }
    outbox.encryptionRequests.remove(room)
    switch answer {
    case .success:
      rooms[room]?.state.isEncrypted = true
      notify(.room(room, .settings))
      refuseClearText(in: room)
    case .refused(let error, _) where error.status == 404:
      outbox.unencryptedRooms.insert(room)
    default:
      // Not allowed to know, or no answer: it is not sent.
      guard let entry = outbox.entries(in: room).first(where: { $0.isWaiting && $0.payload.needsEncryption }) else { break }
      return sendAnswered(answer, entry.id)
    }
    pump(room)
  }

  /// The room is encrypted now: what waits in clear text stays where it is, as failed. The server keeps none of its files.
  mutating func refuseClearText(in room: RoomID) {
    for entry in outbox.entries(in: room) where entry.isWaiting && entry.payload.needsEncryption {
      // A request that is under way cannot be taken back.
      if case .sending = entry.phase { continue }
      fail(entry.id, .encryptedRoom)
    }
  }

  /// Whether a request of another program (`Query.passedOn`) would put clear text into a room that is known to be encrypted.
  func isRefused(_ request: QueryRequest) -> Bool {
    guard request.isPassedOn else { return false }
    // "_matrix", "client", "v3", "rooms", room, "send", type, transaction
    let parts = Array(request.target.utf8).split(separator: UInt8(ascii: "/"))
    guard parts.count == 8, parts[5].elementsEqual("send".utf8), let room = PercentEncoding.decode(parts[4]),
      let id = RoomID(ByteString(decoding: room)), let type = PercentEncoding.decode(parts[6])
    else { return false }
    return isRefused(OutboxPayload(.event, EventType(trusted: ByteString(decoding: type))), in: id)
  }
}

extension OutboxPayload {
  /// Whether it has to be encrypted in an encrypted room.
  var needsEncryption: Bool {
    switch kind {
    case .event, .edit, .reference: type != .encrypted && type != .reaction && type != .redaction
    case .reaction, .redaction, .state: false
    }
  }
}
