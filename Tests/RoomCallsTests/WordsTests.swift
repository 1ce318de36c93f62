import Foundation
import Testing
import WebHost

@testable import RoomCalls

@Suite("What calls in rooms say")
struct WordsTests {
  @Test("The words of the view are in the texts of every language")
  func words() throws {
    let web = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Web").standardizedFileURL
    for language in ["en", "ar", "de", "es", "fr", "ja"] {
      let table = StringTable(try String(contentsOf: web.appending(path: "texts.\(language).txt"), encoding: .utf8))
      for word in Word.allCases {
        let number = try #require(table.number(of: word.rawValue), "\(language) lacks \(word)")
        #expect(!table.words(number).isEmpty)
      }
      #expect(table.number(of: "groupCall") == nil)
    }
  }

  @Test("A clock counts minutes and hours", arguments: [(0, "0:00"), (65, "1:05"), (3_671, "1:01:11")])
  func clock(_ seconds: Int, _ text: String) { #expect(CallClock.text(seconds: seconds) == text) }
}
