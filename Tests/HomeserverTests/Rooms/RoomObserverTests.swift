import Database
import MatrixModel
import Synchronization
import Testing

@testable import ServerCore
@testable import ServerRooms

/// The contract of those who follow rooms.
@Suite struct RoomObserverTests {
  /// Notes what it is told, and refuses messages that say so.
  private final class Listener: RoomObserver {
    struct Refusal: Error {}

    let notes = Mutex<[String]>([])

    private func note(_ text: String) { notes.withLock { $0.append(text) } }

    func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
      guard event.stateKey == nil else { return }
      note("appended \(event.content["body"]?.string ?? "a redaction"), newest: \(room.tail.last === event)")
      if event.content["body"]?.isString("refused") ?? false { throw Refusal() }
    }

    func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {
      note("redacted \(event.content["body"]?.string ?? "")")
    }

    func published(_ news: Note.RoomNews) { note("published \(news.count)") }
  }

  /// A job that is rehearsed would tell its observers twice, and the first time would come to nothing.
  private func fixture(of listener: Listener) throws -> RoomsFixture {
    try RoomsFixture(observers: [listener]) { $0.database.rehearsesJobs = false }
  }

  @Test func `an observer sees an event inside its commit, and that it is published after it`() async throws {
    let listener = Listener()
    let fixture = try fixture(of: listener)
    let room = try await fixture.createRoom(by: "ann")
    listener.notes.withLock { $0 = [] }
    let event = try await fixture.send("one", to: room, by: "ann")
    _ = try await fixture.rooms.redact(
      event, in: room, json("{}"), by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "r"))
    #expect(
      listener.notes.withLock { $0 } == [
        "appended one, newest: true", "published 1", "appended a redaction, newest: true", "redacted one", "published 1"
      ])
  }

  @Test func `the error of an observer undoes the command`() async throws {
    let listener = Listener()
    let fixture = try fixture(of: listener)
    let room = try await fixture.createRoom(by: "ann")
    listener.notes.withLock { $0 = [] }
    await #expect(throws: Listener.Refusal.self) { try await fixture.send("refused", to: room, by: "ann") }
    #expect(try await fixture.bodies(of: room, for: "ann").isEmpty)
    #expect(listener.notes.withLock { $0 } == ["appended refused, newest: true"])
  }
}
