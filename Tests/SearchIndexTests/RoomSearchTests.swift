import JSON
import MatrixModel
import Testing

@testable import ClientCore
@testable import SearchIndex

/// What a search in the index finds, whether a room is indexed, about to be, or half of it.
@Suite struct RoomSearchTests {
  typealias Store = SearchStore

  /// The same messages before any work, with all of it done, and with a part in new segments.
  private func each(_ batches: [[String]], _ check: (inout Store) -> Void) {
    var store = Store()
    for batch in batches { store.sync(batch) }
    check(&store)
    store.workToEnd()
    check(&store)
    store.restart()
    check(&store)
    var growing = Store()
    growing.apply(growing.index.begin(Store.room))
    for batch in batches {
      growing.workToEnd()
      growing.sync(batch)
    }
    check(&growing)
    growing.restart()
    check(&growing)
  }

  @Test func `all words are found wherever they begin a word, without case and diacritics, the newest first`() {
    each([
      [Store.message("Tea for two", "$a"), Store.message("steam", "$b")],
      [Store.message("Zwei Tassen (TEE), schön heiß, “Kanne”", "$c")],
      (0..<40).map { Store.message("noise \($0)", "$n\($0)") }, [Store.message("two more teas", "$d")]
    ]) { store in
      #expect(store.found("tea two") == ["two more teas", "Tea for two"])
      #expect(store.found("te") == ["two more teas", "Zwei Tassen (TEE), schön heiß, “Kanne”", "Tea for two"])
      #expect(store.found("schon tee kanne") == ["Zwei Tassen (TEE), schön heiß, “Kanne”"])
      #expect(store.found("eam").isEmpty && store.found("tea nothing").isEmpty)
      #expect(store.found("").isEmpty && store.found("  ").isEmpty && store.found("()").isEmpty)
      #expect(store.found("noise").count == 40 && store.found("noise 1").count == 11)
    }
  }

  // Proves B3
  @Test func `Chinese, Japanese and Thai are found anywhere, by one character or more, also beside other letters`() {
    each([
      [
        Store.message("我们明天去北京喝茶", "$a"), Store.message("新しいiPhoneを買いました", "$b"), Store.message("ไปดื่มชากันไหม", "$c"),
        Store.message("東京タワーは高い", "$d"), Store.message("🍵 heute?", "$e"), Store.message("서울에서 차를 마셔요", "$f")
      ]
    ]) { store in
      #expect(store.found("北京") == ["我们明天去北京喝茶"] && store.found("茶") == ["我们明天去北京喝茶"])
      #expect(store.found("喝茶") == ["我们明天去北京喝茶"] && store.found("明天 北京").count == 1 && store.found("京北").isEmpty)
      #expect(store.found("タワー") == ["東京タワーは高い"] && store.found("iphone を").count == 1 && store.found("京").count == 2)
      #expect(store.found("ดื่มชา").count == 1 && store.found("🍵").count == 1 && store.found("서울").count == 1)
      #expect(store.found("新しいiph").count == 1)
    }
  }

  @Test func `a long text is searched to its end`() {
    let long = String(repeating: "茶", count: 700) + "壺" + String(repeating: "茶", count: 200)
    each([[Store.message(long, "$a"), Store.message(String(repeating: "a ", count: 3_000) + "end", "$b")]]) { store in
      #expect(store.found("茶壺茶") == [long] && store.found("end").count == 1)
    }
  }

  @Test func `what was edited is found as it is now, what was redacted not at all`() {
    each([
      [Store.message("green tea", "$a"), Store.message("black tea", "$b"), Store.message("white tea", "$c")],
      [Store.edit("$a", "green coffee", "$e1"), Store.edit("$c", "stolen", "$e2", by: "@bob:test")],
      [Store.redaction("$b", "$r")], [Store.edit("$c", "red tea", "$e3")], [Store.redaction("$e3", "$r2")]
    ]) { store in
      #expect(store.found("tea") == ["white tea"] && store.found("coffee") == ["green coffee"])
      #expect(store.found("green") == ["green coffee"] && store.found("black").isEmpty && store.found("stolen").isEmpty)
      #expect(store.found("red").isEmpty)
      #expect(store.matches("coffee").map { $0.eventID.string } == ["$a"])
    }
  }

  @Test func `names of files and answers of polls are searched, too`() {
    let poll =
      #"{"org.matrix.msc3381.poll.start":{"question":{"org.matrix.msc1767.text":"Drink?"},"max_selections":1,"#
      + #""answers":[{"id":"1","org.matrix.msc1767.text":"Lemonade"},{"id":"2","org.matrix.msc1767.text":"Water"}]}}"#
    each([
      [
        Store.event(
          "m.room.message", "$a", #"{"msgtype":"m.file","body":"for you","filename":"kettle-plan.pdf","url":"mxc://t/1"}"#),
        Store.event("org.matrix.msc3381.poll.start", "$b", poll)
      ]
    ]) { store in
      #expect(store.found("plan you") == ["for you"] && store.found("lemon") == ["Drink?"])
    }
  }

  @Test func `damaged records hide nothing else`() {
    each([[Store.message("tea one", "$a")], [Store.message("tea two", "$b")], [Store.message("tea three", "$c")]]) { store in
      var damaged = store
      damaged.records[TimelineRecord.key(of: SegmentPosition(block: 1), in: Store.room)] = Array("{".utf8)
      #expect(damaged.found("tea") == ["tea three", "tea one"])
      damaged = store
      for key in damaged.records.keys where key.hasPrefix("i/s/") {
        damaged.records[key] = [SpanDocuments.version, 255, 255, 7]
      }
      _ = damaged.found("tea")
    }
  }

  @Test func `messages whose keys come later are found from then on`() {
    each([[Store.sealed("$a"), Store.message("plain tea", "$b")], [Store.sealed("$c")]]) { store in
      var later = store
      #expect(later.found("tea") == ["plain tea"])
      later.keys["$a"] = Store.message("secret tea", "$a")
      #expect(later.found("tea") == ["plain tea", "secret tea"])
      later.index.keysCame(for: Store.room)
      later.workToEnd()
      later.restart()
      #expect(later.found("tea") == ["plain tea", "secret tea"])
      later.keys["$c"] = Store.message("newest tea", "$c")
      later.index.keysCame(for: Store.room)
      later.workToEnd()
      #expect(later.found("tea") == ["newest tea", "plain tea", "secret tea"])
    }
  }
}
