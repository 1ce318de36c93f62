import Foundation
import Testing

/// The sample in Documentation/Calls.md is the program in Examples/NativeCall, which the build compiles and an end-to-end test runs.
@Suite struct DocumentationTests {
  @Test("The sample of calls from Swift is the example")
  func sample() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
    let example = try String(contentsOf: root.appendingPathComponent("Examples/NativeCall/NativeCall.swift"), encoding: .utf8)
    let article = try String(contentsOf: root.appendingPathComponent("Documentation/Calls.md"), encoding: .utf8)
    let parts = example.components(separatedBy: "// Calls.md\n")
    try #require(parts.count == 3)
    let sample = parts[1].filter { !$0.isWhitespace }
    #expect(sample.count > 300)
    #expect(article.filter { !$0.isWhitespace }.contains("```swift" + sample + "```"))
  }
}
