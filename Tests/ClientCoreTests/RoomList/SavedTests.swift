import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Messages that an account has saved for itself.
@Suite struct SavedTests {
  private func tagged(_ content: String) -> String {
    #","account_data":{"events":[{"type":"m.tagged_events","content":\#(content)}]}"#
  }

  private func saved(_ host: Host) -> [String] {
    host.client.room(.test)?.savedEvents.map { $0.event.string + " \($0.savedAtMilliseconds)" } ?? []
  }

  @Test func `saved messages are known by the time at which they were saved, also after a restart`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Wire.message("two", "$2")])
    host.sync(
      Wire.join(
        extra: tagged(
          #"{"tags":{"m.favourite":{"$2":{"tagged_at":9},"$1":{"tagged_at":3},"$0":{}},"m.hidden":{"$7":{"tagged_at":1}}}}"#)))
    #expect(saved(host) == ["$0 0", "$1 3", "$2 9"])
    #expect(host.client.room(.test)?.hasSaved(EventID(trusted: "$2")) == true)
    #expect(host.client.room(.test)?.hasSaved(EventID(trusted: "$7")) == false)
    #expect(saved(host.restarted()) == ["$0 0", "$1 3", "$2 9"])
    host.sync(Wire.join(extra: tagged(#"{"tags":{}}"#)))
    #expect(saved(host) == [])
  }

  @Test func `whether an account has tagged messages is known, also after a restart`() throws {
    var host = Host.inRoom([Wire.message("one", "$1")])
    #expect(host.client.room(.test)?.hasTaggedEvents == false)
    #expect(host.restarted().client.room(.test)?.hasTaggedEvents == false)
    host.sync(Wire.join(extra: tagged(#"{"tags":{"m.hidden":{"$7":{}}}}"#)))
    #expect(host.client.room(.test)?.hasTaggedEvents == true)
    #expect(host.restarted().client.room(.test)?.hasTaggedEvents == true)
    // What an older version has stored says nothing of it.
    #expect(RoomMarks(record: try JSON.parse(Array("{}".utf8))).hasTaggedEvents == nil)
  }

  @Test(arguments: [
    "{}", #"{"tags":3}"#, #"{"tags":{"m.favourite":[]}}"#, #"{"tags":{"m.favourite":{"no event":{},"$1":7}}}"#
  ])
  func `account data that is not as it should be saves nothing more than it says`(content: String) {
    var host = Host.inRoom([Wire.message("one", "$1")])
    host.sync(Wire.join(extra: tagged(content)))
    #expect(saved(host).allSatisfy { $0 == "$1 0" })
  }

  @Test func `no more than a thousand are kept of a room`() {
    var host = Host.inRoom([Wire.message("one", "$1")])
    let entries = (0..<1_500).map { #""$\#($0)":{"tagged_at":\#($0)}"# }.joined(separator: ",")
    host.sync(Wire.join(extra: tagged(#"{"tags":{"m.favourite":{\#(entries)}}}"#)))
    #expect(saved(host).count == 1_000)
  }
}
