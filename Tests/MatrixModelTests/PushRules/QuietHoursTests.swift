import JSON
import MatrixModel
import Testing

@Suite struct QuietHoursTests {
  static func hours(_ content: String) -> QuietHours? { QuietHours(try! JSON.parse(Array(content.utf8))) }

  @Test(
    arguments: [
      (#"{"from":1320,"to":420}"#, [(1_319, false), (1_320, true), (0, true), (419, true), (420, false)]),
      (#"{"from":60,"to":120,"utc_offset":0}"#, [(59, false), (60, true), (119, true), (120, false)]),
      (#"{"from":60,"to":120,"utc_offset":120}"#, [(1_379, false), (1_380, true), (1_439, true), (0, false)]),
      (#"{"from":60,"to":120,"utc_offset":-120}"#, [(179, false), (180, true), (239, true), (240, false)])
    ] as [(String, [(Int64, Bool)])])
  func `they hold between two times of the local day, over midnight too`(content: String, times: [(Int64, Bool)]) throws {
    let hours = try #require(Self.hours(content))
    for day: Int64 in [0, 20_000] {
      for (minute, isQuiet) in times {
        #expect(hours.contains((day * 1_440 + minute) * 60_000) == isQuiet, "\(minute)")
        #expect(hours.contains((day * 1_440 + minute) * 60_000 + 59_999) == isQuiet, "\(minute)")
      }
    }
    // Clocks may be wrong.
    for moment in [Int64.min, .max] { _ = hours.contains(moment) }
  }

  @Test(arguments: [
    "{}", #"{"from":60}"#, #"{"from":60,"to":60}"#, #"{"from":-1,"to":60}"#, #"{"from":60,"to":1440}"#,
    #"{"from":"60","to":120}"#, #"{"from":60,"to":120,"utc_offset":1440}"#, #"{"from":60,"to":120,"utc_offset":-1440}"#,
    #"{"from":9007199254740991,"to":120}"#, #"{"from":60,"to":120,"utc_offset":-9007199254740991}"#
  ]) func `invalid quiet hours are ignored`(content: String) {
    #expect(Self.hours(content) == nil)
  }
}
