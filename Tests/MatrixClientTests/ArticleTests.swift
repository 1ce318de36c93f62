import Testing

/// The articles' samples are pieces of Examples/UseCases, which the build compiles (that of Views where there is SwiftUI); an end-to-end test
/// runs those of the five use cases.
@Suite struct ArticleTests {
  static let samples = [
    "PublicRooms", "LoggingIn", "PermanentStore", "ReadingTimeline", "SendingText", "Messaging", "BuildingViews",
    "Recovery", "WhenSomethingFails"
  ]
  private let catalogue = "Sources/Client/MatrixClient/MatrixClient.docc"

  @Test(arguments: samples) func `an article's samples are the examples that are built, each under ten lines`(name: String)
    throws
  {
    let article = try SourceText.read("\(catalogue)/\(name).md").split(separator: "```swift\n").dropFirst()
    let samples = article.map { SourceText.lines($0.split(separator: "```")[0]) }
    let example = try SourceText.read("Examples/UseCases/\(name).swift").split(separator: "// ARTICLE\n")
    // Every other one stands between two markers.
    let pieces = example.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { SourceText.lines($0.element) }
    try #require(!samples.isEmpty && !example.count.isMultiple(of: 2))
    #expect(samples == pieces.map { $0.filter { !$0.isEmpty } })
    for sample in samples { #expect(sample.count < 10) }
  }

  @Test func `every name in the tables for those who come from other SDKs is one of ours`() throws {
    let rows = try SourceText.read("\(catalogue)/Migrating.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
    let names = Set(rows.compactMap { $0.split(separator: "|").last }.flatMap { SourceText.quoted($0) })
    try #require(names.count > 30)
    let sources = try SourceText.declarations(in: [
      "Sources/Client/MatrixClient", "Sources/Portable/ClientCore", "Sources/Portable/EventContent",
      "Sources/Portable/ServerQueries", "Sources/Portable/MatrixModel"
    ])
    for name in names.sorted() {
      for part in name.prefix(while: { $0 != "(" }).split(separator: ".") {
        #expect(sources.contains(String(part)), "\(name)")
      }
    }
  }
}
