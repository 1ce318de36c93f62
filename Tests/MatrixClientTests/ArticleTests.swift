import Testing

/// The articles' samples are pieces of Examples/UseCases, which the build compiles and an end-to-end test runs.
@Suite struct ArticleTests {
  static let samples = ["PublicRooms", "LoggingIn", "PermanentStore", "ReadingTimeline", "SendingText", "Views"]
  private let catalogue = "Sources/Client/MatrixClient/MatrixClient.docc"

  @Test(arguments: samples) func `an article's sample is the example that is built, under ten lines`(name: String) throws {
    let article = try SourceText.read("\(catalogue)/\(name).md").split(separator: "```swift\n")
    try #require(article.count == 2)
    let sample = SourceText.lines(article[1].split(separator: "```")[0])
    let example = try SourceText.read("Examples/UseCases/\(name).swift").split(separator: "// ARTICLE\n")
    try #require(example.count == 3)
    #expect(sample == SourceText.lines(example[1]).filter { !$0.isEmpty })
    #expect(sample.count < 10)
  }

  @Test func `every name in the tables for those who come from other SDKs is one of ours`() throws {
    let rows = try SourceText.read("\(catalogue)/Migrating.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
    let names = Set(rows.compactMap { $0.split(separator: "|").last }.flatMap { SourceText.quoted($0) })
    try #require(names.count > 30)
    let sources = try SourceText.declarations(in: [
      "Sources/Client/MatrixClient", "Sources/Portable/ClientCore", "Sources/Portable/MatrixModel"
    ])
    for name in names.sorted() {
      for part in name.prefix(while: { $0 != "(" }).split(separator: ".") {
        #expect(sources.contains(String(part)), "\(name)")
      }
    }
  }
}
