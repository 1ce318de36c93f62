import PostgreSQLTesting
import Testing

@testable import Database

/// The same texts and the same queries in both engines. The texts are made of words of several scripts by a generator with a fixed seed.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct TwoEngineSearchTests {
  let folder = try! Folder()

  private static let words: [[String]] = [
    [
      "Hello", "hello", "world", "meeting", "meet", "café", "cafe", "naïve", "v1.19.2", "data-dir", "it's", "SHA256", "10:30",
      "1,000", "x"
    ],
    ["Straße", "Über", "übermorgen", "Ärger", "groß", "Größe"],
    ["ĐặngVăn", "Nguyễn", "tiếng", "Việt"],
    ["Привет", "привет", "мир", "Йод", "ёлка", "Елка"],
    ["Ελλάδα", "ελλάδα", "λόγος", "ΛΟΓΟΣ"],
    ["日本語", "学ぶ", "日本", "東京都", "カタカナ"],
    ["한국어", "서울", "안녕하세요"],
    ["สวัสดี", "ครับ", "ภาษาไทย"],
    ["مرحبا", "العالم", "كتاب"],
    ["שלום", "עולם"],
    ["नमस्ते", "दुनिया"],
    ["hello!", "(world)", "\"café\"", "🐦", "—", "a@b.example", "https://x.example/p_q"]
  ]

  private struct Random: RandomNumberGenerator {
    var state: UInt64 = 42
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33 ^ state << 31
    }
  }

  /// Words of one script, or of all.
  private static func text(_ count: ClosedRange<Int>, _ random: inout Random) -> String {
    let script = words.randomElement(using: &random) ?? []
    let isMixed = Int.random(in: 0..<3, using: &random) == 0
    return (0..<Int.random(in: count, using: &random)).map { _ in
      (isMixed ? words.randomElement(using: &random) ?? [] : script).randomElement(using: &random) ?? ""
    }.joined(separator: Int.random(in: 0..<4, using: &random) == 0 ? ", " : " ")
  }

  private static func found(_ query: FullTextQuery, _ database: Database) throws -> [Int64] {
    try database.readBlocking { transaction in
      var found: [Int64] = []
      try transaction.fullTextMatches(query, below: .max, limit: 1_000) { match in
        found.append(match.document)
        return true
      }
      return found
    }
  }

  @Test func `both find the same documents in the same order`() throws {
    let migrations = [Migration(version: 1, name: "text", statements: FullTextIndex.statements)]
    let databases = try Engine.allCases.map { try folder.open(on: $0, migrations) }
    defer { for database in databases { database.close() } }
    var random = Random()
    let texts = (0..<600).map { _ in Self.text(1...12, &random) }
    for database in databases {
      try database.writeBlocking { transaction in
        for (index, text) in texts.enumerated() {
          try transaction.addFullText(text, document: Int64(index + 1), scope: Int64(index % 5))
        }
      }
    }
    var matches = 0
    for number in 0..<400 {
      let text = Self.text(1...2, &random)
      let query = FullTextQuery(text, in: number.isMultiple(of: 3) ? [1, 3] : nil, matchesBeginnings: number.isMultiple(of: 2))
      let found = try databases.map { try Self.found(query, $0) }
      #expect(found[0] == found[1], "\(text)")
      matches += found[0].count
    }
    #expect(matches > 2_000)
  }
}
