import Testing

@testable import WebApp

@Suite("Emoji that one uses")
struct EmojiHabitsTests {
  @Test("those picked most stand first, the newest among equals, then what most people use, each once")
  func order() {
    let habits = EmojiHabits("🚀 🐈 🚀 👍")
    #expect(habits.favourites(4, besides: ["👍", "❤️"]) == ["🚀", "🐈", "👍", "❤️"])
    #expect(habits.favourites(2, besides: []) == ["🚀", "🐈"])
    #expect(EmojiHabits("").quick == EmojiHabits.common)
  }

  @Test("of picks the newest are remembered, and no pictures of packs")
  func memory() {
    var habits = EmojiHabits("")
    habits.pick(":owl:")
    #expect(habits.picks.isEmpty)
    for number in 0..<100 { habits.pick("\(number)") }
    #expect(habits.picks.count == 64 && habits.picks.first == "99")
    #expect(EmojiHabits(habits.picks.joined(separator: " ")).picks == habits.picks)
  }
}
