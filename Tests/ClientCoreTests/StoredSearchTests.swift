import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct StoredSearchTests {
  private func found(_ words: String, in host: Host) -> [String] {
    var search = StoredSearch(ByteString(words), in: .test)
    var found: [String] = []
    while let range = search.nextRange {
      let records = range.select(from: host.store.map { (key: $0.key, value: $0.value) })
      found += search.take(records).map { $0.content.body.string }
    }
    return found
  }

  private func host(_ batches: [[String]]) -> Host {
    var host = Host.inRoom()
    for events in batches { host.sync(Wire.join(events)) }
    return host
  }

  private static func edit(_ target: String, _ text: String, _ id: String, by sender: String = "@alice:test") -> String {
    Wire.event(
      "m.room.message", id, by: sender,
      #"{"msgtype":"m.text","body":"* \#(text)","m.new_content":{"msgtype":"m.text","body":"\#(text)"},"#
        + #""m.relates_to":{"rel_type":"m.replace","event_id":"\#(target)"}}"#)
  }

  @Test func `all words are found wherever they begin a word, without case and diacritics, the newest first`() {
    let host = host([
      [Wire.message("Tea for two", "$a"), Wire.message("steam", "$b")], [Wire.message("Zwei Tassen (TEE), schön heiß", "$c")],
      (0..<40).map { Wire.message("noise \($0)", "$n\($0)") }, [Wire.message("two more teas", "$d")]
    ])
    #expect(found("tea two", in: host) == ["two more teas", "Tea for two"])
    #expect(found("schon tee", in: host) == ["Zwei Tassen (TEE), schön heiß"])
    #expect(found("eam", in: host).isEmpty && found("tea nothing", in: host).isEmpty)
    #expect(found("", in: host).isEmpty && found("  ", in: host).isEmpty)
    #expect(found("noise", in: host).count == 40)
  }

  @Test func `a long text and a script without spaces are searched to their end`() {
    let long = String(repeating: "茶", count: 700) + "壺" + String(repeating: "茶", count: 200)
    let host = host([[Wire.message(long, "$a"), Wire.message(String(repeating: "a ", count: 3_000) + "end", "$b")]])
    #expect(found("茶壺茶", in: host) == [long] && found("end", in: host).count == 1)
  }

  @Test func `what was edited is found as it is now, what was redacted not at all`() {
    let host = host([
      [Wire.message("green tea", "$a"), Wire.message("black tea", "$b"), Wire.message("white tea", "$c")],
      [Self.edit("$a", "green coffee", "$e1"), Self.edit("$c", "stolen", "$e2", by: "@bob:test")],
      [Wire.event("m.room.redaction", "$r", #"{"redacts":"$b"}"#)]
    ])
    #expect(found("tea", in: host) == ["white tea"])
    #expect(
      found("green", in: host) == ["green coffee"] && found("black", in: host).isEmpty && found("stolen", in: host).isEmpty)
  }

  @Test func `names of files and answers of polls are searched, too`() {
    let poll =
      #"{"org.matrix.msc3381.poll.start":{"question":{"org.matrix.msc1767.text":"Drink?"},"max_selections":1,"#
      + #""answers":[{"id":"1","org.matrix.msc1767.text":"Lemonade"},{"id":"2","org.matrix.msc1767.text":"Water"}]}}"#
    let host = host([
      [
        Wire.event(
          "m.room.message", "$a", #"{"msgtype":"m.file","body":"for you","filename":"kettle-plan.pdf","url":"mxc://t/1"}"#),
        Wire.event("org.matrix.msc3381.poll.start", "$b", poll)
      ]
    ])
    #expect(found("plan you", in: host) == ["for you"] && found("lemon", in: host) == ["Drink?"])
  }

  @Test func `damaged records hide nothing else`() {
    var host = host([[Wire.message("tea one", "$a")], [Wire.message("tea two", "$b")], [Wire.message("tea three", "$c")]])
    let keys = host.store.keys.filter { $0.hasPrefix("t/") }.sorted()
    host.store[keys[keys.count - 2]] = Array("{".utf8)
    #expect(found("tea", in: host) == ["tea three", "tea one"])
  }
}
