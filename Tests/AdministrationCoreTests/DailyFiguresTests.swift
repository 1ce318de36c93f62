import AdministrationCore
import Testing

struct DailyFiguresTests {
  private static let day = DailyFigures.dayMilliseconds

  @Test("Days on which the server was off are filled: accounts stay, and nobody was there")
  func gaps() {
    let days = [
      DailyFigures(day: 4 * Self.day, users: 9, active: 3, messages: 7),
      DailyFigures(day: 1 * Self.day, users: 5, active: 2, messages: 4, rooms: 2, mediaBytes: 10)
    ]
    let filled = DailyFigures.filled(days, limit: 30)
    #expect(filled.map(\.day) == [1, 2, 3, 4].map { $0 * Self.day })
    #expect(filled[1] == DailyFigures(day: 2 * Self.day, users: 5, rooms: 2, mediaBytes: 10))
    #expect(filled[3].messages == 7)
  }

  @Test("Only the newest days are kept, whatever the server sends")
  func limit() {
    let days = (0..<100).map { DailyFigures(day: Int64($0) * Self.day) }
    #expect(DailyFigures.filled(days, limit: 30).count == 30)
    #expect(DailyFigures.filled([], limit: 30).isEmpty)
    #expect(DailyFigures.filled(days, limit: 0).isEmpty)
    #expect(DailyFigures.filled([DailyFigures(day: .min), DailyFigures(day: .max)], limit: 30).count == 1)
  }
}
