import Glibc
import Testing

/// The README's sample is the program in Examples/Hello, which the build compiles and an end-to-end test runs.
@Suite struct ReadmeTests {
  private func text(of path: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(root)/\(path)", "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
  }

  @Test func `the sample in the README is the example that is built`() throws {
    let readme = try text(of: "README.md").split(separator: "```swift\n")
    let sample = try #require(readme.dropFirst().first).split(separator: "```")[0]
    let example = try text(of: "Examples/Hello/Hello.swift").split(separator: "// README\n")
    #expect(example.count == 3)
    #expect(lines(sample) == lines(example[1]).filter { !$0.isEmpty })
  }
}
