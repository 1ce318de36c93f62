import MessengerTesting
import Testing

@testable import Messenger

@Suite("Stacked marks")
struct StackedMarksTests {
  @Test(
    "Texts of scripts without marks need no clip",
    arguments: [
      "", "plain", "Grüße, naïve straße – “quoted” … € ½", "Ωμέγα", "Привет, мир", "日本語の文章です。ガギグ", "안녕하세요", "👍🏽 👩‍👩‍👧 🇫🇷 ❤️ ✓",
      "ＡＢＣ"
    ])
  func plain(text: String) { #expect(!text.mayStackMarks) }

  @Test("A mark anywhere is seen, whatever it stands on")
  func marks() {
    // What Unicode calls a mark and gives no width of its own, in the planes people write in.
    var missed: [String] = []
    var count = 0
    for value in UInt32(0x80)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isMark = [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
      // Variation selectors change a character and are not seen.
      guard isMark, !(0xFE00...0xFE0F).contains(value) else { continue }
      count += 1
      if !("a" + String(scalar)).mayStackMarks { missed.append(String(value, radix: 16)) }
    }
    #expect(missed == [])
    #expect(count > 1500)
  }

  @Test("A row clips its text while marks may stand on each other in it")
  func rows() {
    let screen = Screen()
    let piled = "Z" + String(repeating: "\u{0335}\u{0348}", count: 60)
    #expect(screen.show(.text("plain")).first("mg-clipped") == nil)
    #expect(screen.show(.text(piled)).first("mg-clipped")?.text == piled)
    #expect(screen.show(.text("plain")).first("mg-clipped") == nil)
  }
}
