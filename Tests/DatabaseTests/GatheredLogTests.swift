import Testing

@testable import Database

@Suite("Gathering what a commit writes")
struct GatheredLogTests {
  let folder = try! Folder()
  private struct Refused: Error {}
  /// Of a transaction: more bytes than are gathered at once, five times over.
  private static let notes = 24

  /// Pages leave the small cache for the log while the transaction goes on, and come back from there.
  private func open(_ synchronous: DatabaseConfiguration.Synchronous = .full) throws -> Database {
    try folder.open {
      $0.synchronous = synchronous
      $0.cacheBytes = 64 << 10
      $0.checkpointPages = 100
    }
  }

  private static func body(_ number: Int, _ round: UInt8) -> [UInt8] {
    [UInt8](repeating: UInt8(number) ^ (round << 5), count: 30_000)
  }

  private static func write(_ transaction: WriteTransaction, round: UInt8) throws {
    for number in 0..<notes { try transaction.addNote(by: "\(round) \(number)", body: body(number, round)) }
    for number in 0..<notes {
      let kept = try transaction.first("SELECT body FROM note WHERE author = $1", "\(round) \(number)") { $0.blob(0) }
      guard kept == body(number, round) else { throw Refused() }
    }
  }

  private func check(_ database: Database, rounds: ClosedRange<UInt8>) throws {
    try database.readBlocking { transaction in
      for round in rounds {
        for number in 0..<Self.notes {
          let kept = try transaction.first("SELECT body FROM note WHERE author = $1", "\(round) \(number)") { $0.blob(0) }
          #expect(kept == Self.body(number, round))
        }
      }
      #expect(try transaction.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
    }
  }

  @Test(
    "Transactions larger than what is gathered read back: in themselves, from readers, after checkpoints and the next start",
    arguments: DatabaseConfiguration.Synchronous.allCases)
  func largeTransactions(synchronous: DatabaseConfiguration.Synchronous) throws {
    let database = try open(synchronous)
    for round in UInt8(1)...4 {
      try database.writeBlocking { try Self.write($0, round: round) }
      try check(database, rounds: 1...round)
    }
    #expect(database.statistics.checkpoints > 0)
    database.close()
    try check(try open(synchronous), rounds: 1...4)
  }

  @Test("What a large transaction wrote before it was undone is not read")
  func undoneTransaction() throws {
    let database = try open()
    try database.writeBlocking { try Self.write($0, round: 1) }
    #expect(throws: Refused.self) {
      try database.writeBlocking { transaction in
        try Self.write(transaction, round: 2)
        throw Refused()
      }
    }
    try database.writeBlocking { try Self.write($0, round: 2) }
    try check(database, rounds: 1...2)
    #expect(database.committedPosition == Int64(2 * Self.notes))
  }
}
