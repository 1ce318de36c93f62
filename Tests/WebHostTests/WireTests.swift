import Messenger
import Testing

@testable import WebHost

@Suite("What crosses to JavaScript", .serialized)
struct WireTests {
  @Test("A text in a batch is counted in UTF-16 units", arguments: ["", "a", "ä", "日", "😀", "a😀ä日👩‍👩‍👧"])
  func utf16(text: String) {
    var buffer = CommandBuffer()
    buffer.text(node: Node(id: 7), text: text)
    #expect(buffer.words == [10, 7, Int32(text.utf16.count)])
    #expect(buffer.text == Array(text.utf8))
  }

  @Test("A request's head cannot be split by line breaks in its parts")
  func requestHead() {
    let request = HostRequest(
      method: "PUT", url: "https://a.b/\nx: y", headers: [("Authorization", "Bearer a\r\nevil: 1")],
      timeoutMilliseconds: 5)
    #expect(
      String(decoding: request.head(), as: UTF8.self) == "PUT\nhttps://a.b/x: y\n5\n0\nAuthorization:Bearer aevil: 1")
  }

  @Test("Texts of strangers do not shift the fields behind them")
  func fieldsOfTexts() {
    #expect(fields("a", "hi\0https://evil.example/x", "", "ä") == Array("a\0hihttps://evil.example/x\0\0ä".utf8))
  }

  @Test("A response is cut into headers and body, whatever its counts say", arguments: [0, 14, 500, -3])
  func response(headCount: Int) {
    let bytes = Array("retry-after:3\n{}".utf8)
    bytes.withUnsafeBytes { raw in
      let response = HostResponse(status: 429, headCount: headCount, bytes: raw)
      #expect(response.status == 429)
      let cut = min(max(headCount, 0), bytes.count)
      #expect(response.body == Array(bytes[cut...]))
      if headCount == 14 { #expect(response.header("retry-after") == "3") }
    }
  }

  @Test("Entries of a store survive the way; a cut answer is no answer")
  func storeEntries() {
    // The layout of an entry is that of a change without its kind.
    var bytes = Array(KeyValueStore.batch([.put("a/ä", [1, 2, 3])]).dropFirst())
    bytes += KeyValueStore.batch([.put("b", [])]).dropFirst()
    for count in 0...bytes.count {
      let entries = bytes[..<count].withUnsafeBytes { KeyValueStore.entries($0) }
      switch count {
      case 0: #expect(entries?.isEmpty == true)
      case 15: #expect(entries?.count == 1)
      case bytes.count:
        #expect(entries?.map(\.key) == ["a/ä", "b"])
        #expect(entries?.map(\.value) == [[1, 2, 3], []])
      default: #expect(entries == nil, "\(count) bytes")
      }
    }
    #expect(
      KeyValueStore.batch([.delete("k"), .deletePrefix("p")]) == [
        2, 1, 0, 0, 0, 0, 0, 0, 0, 107, 3, 1, 0, 0, 0, 0, 0, 0, 0, 112
      ])
  }

  @Test("A range of a store is packed as the page unpacks it")
  func storeRange() {
    let range = KeyValueStore.Range(prefix: "t/", before: "t/9", isDescending: true, limit: 258)
    #expect(
      range.bytes == [1, 2, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0] + Array("t/t/9".utf8))
    #expect(KeyValueStore.Range(prefix: "").bytes == [UInt8](repeating: 0, count: 17))
  }

  @Test("Picked files are read from their lines; broken lines are left out")
  func pickedFiles() {
    let text = "7\t1200\t40\t30\t0\timage/png\ta b.png\nbroken\n8\t5\t0\t0\t900\t\tx\n9\t4\t8\t6\t0\timage/jpeg\t"
    let files = Array(text.utf8).withUnsafeBytes { Host.pickedFiles($0) }
    guard files.count == 2 else {
      Issue.record("\(files.count) files")
      return
    }
    // A line without a name is the picture of the file before it.
    #expect(files[1].poster?.handle == 9 && files[1].durationMilliseconds == 900 && files[0].poster == nil)
    #expect(files[0].handle == 7 && files[0].byteCount == 1200 && files[0].isImage && files[0].name == "a b.png")
    #expect(files[1].mediaType == "" && !files[1].isImage)
  }

  @Test("Callbacks are called until they are dropped, and their numbers are never used again")
  func callbackNumbers() {
    var calls = 0
    let once = registerOnce { _ in calls += 1 }
    let many = register { _ in calls += 10 }
    for _ in 0..<3 {
      _ = dispatch(once, 0, 0, 0, nil, 0)
      _ = dispatch(many, 0, 0, 0, nil, 0)
    }
    #expect(calls == 31)
    HostTask(id: many).cancel()
    _ = dispatch(many, 0, 0, 0, nil, 0)
    #expect(calls == 31)
    #expect(register { _ in } > many)
  }

  @Test("Releasing a node drops the listeners of everything below it and gives the numbers back")
  func releaseSubtree() {
    let dom = BatchDOM()
    let before = (liveCallbackCount(), dom.liveNodeCount)
    let outer = dom.element("div", in: .root)
    let model = dom.element("div")
    let slot = dom.element("span", in: model)
    let template = dom.template(root: model, slots: [slot])
    let clone = dom.clone(template)
    dom.append(clone, to: outer)
    let link = dom.element("a", in: clone.slot(1))
    dom.on(link, .click) { _ in }
    dom.on(clone.slot(1), .click) { _ in }
    #expect(liveCallbackCount() == before.0 + 2)
    dom.release(outer)
    #expect(liveCallbackCount() == before.0)
    #expect(dom.liveNodeCount == before.1)
    let again = dom.clone(template)
    #expect(again == clone)
  }

  @Test("A local day follows the clock's offset, also before 1970")
  func localDay() {
    let clock = LocalClock()
    #expect(clock.day(86_400_000 - 1) == 0)
    #expect(clock.day(86_400_000) == 1)
    #expect(clock.day(-1) == -1)
    #expect(clock.day(-86_400_000) == -1)
    #expect(clock.day(-86_400_001) == -2)
    #expect(clock.day(.max) > 0 && clock.day(.min) < 0)
  }
}
