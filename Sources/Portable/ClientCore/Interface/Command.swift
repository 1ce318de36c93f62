import JSON
import MatrixModel

/// What the user can ask the client to do, by chapter. The file of each chapter has its commands and carries them out.
public indirect enum Command: Sendable {
  case session(SessionCommand)
  case sync(SyncCommand)
  case timeline(TimelineCommand)
  case reading(ReadingCommand)
  case sending(SendingCommand)
  case rooms(RoomCommand)
  case roomList(RoomListCommand)
  case people(PeopleCommand)
  case spaces(SpaceCommand)
  case account(AccountCommand)
}

/// How a command ended.
public indirect enum CommandResult: Sendable {
  case done
  /// The room that was made, joined or found.
  case room(RoomID)
  case event(EventSource)
  case unread(UnreadEvidence)
  /// A timeline that is open now.
  case timeline(TimelineKey)
  /// It is in the outbox under that ID; `Change.sending` tells how it goes on.
  case queued(SendID)
  case failed(ClientError)
}
