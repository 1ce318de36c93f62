import Testing

@testable import martlet_terminal

@Suite("Terminal: commands that another process carries out")
struct HandedOverTests {
  @Test("Words, folder and input arrive as they were")
  func whole() throws {
    let order = HandedOver(words: ["send", "Tea \u{1F375}", "--", "a\nb\"\\"], folder: "/tmp/ä", input: "text\n\n")
    #expect(order.line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    let read = try #require(HandedOver(Array(order.line.dropLast())))
    #expect(read.words == order.words && read.folder == order.folder && read.input == order.input)
    #expect(try #require(HandedOver(HandedOver(words: [], folder: "/", input: nil).line)).input == nil)
  }

  @Test(
    "What is no order is none",
    arguments: ["", "[]", "{}", #"{"words":["send"]}"#, #"{"folder":"/"}"#, #"{"words":1,"folder":2}"#])
  func malformed(text: String) { #expect(HandedOver(Array(text.utf8)) == nil) }

  @Test("Answers arrive as they were; what is no answer is none")
  func answers() {
    if case .output("a\nb") = HandedOver.Answer(HandedOver.Answer.output("a\nb").line) {} else { Issue.record("no output") }
    let end = HandedOver.Answer.end(4, complaint: "none")
    if case .end(4, "none") = HandedOver.Answer(end.line) {} else { Issue.record("no end") }
    if case .begun = HandedOver.Answer(HandedOver.Answer.begun.line) {} else { Issue.record("not begun") }
    for text in ["", "{}", #"{"status":"x"}"#, #"{"output":1}"#] { #expect(HandedOver.Answer(Array(text.utf8)) == nil) }
  }
}
