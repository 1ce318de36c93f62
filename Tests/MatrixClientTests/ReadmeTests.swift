import Testing

/// The README's sample is the program in Examples/Hello, which the build compiles and an end-to-end test runs.
@Suite struct ReadmeTests {
  @Test func `the sample in the README is the example that is built`() throws {
    let readme = try SourceText.read("README.md").split(separator: "```swift\n")
    let sample = try #require(readme.dropFirst().first).split(separator: "```")[0]
    let example = try SourceText.read("Examples/Hello/Hello.swift").split(separator: "// README\n")
    #expect(example.count == 3)
    #expect(SourceText.lines(sample) == SourceText.lines(example[1]).filter { !$0.isEmpty })
  }
}
