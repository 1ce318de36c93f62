import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// What a sender can make large stays within its limit, and just as large is still whole.
@Suite struct ContentLimitTests {
  private static func message(_ content: String) -> MessageContent? {
    guard case .message(let message)? = Host.inRoom([Wire.event("m.room.message", "$1", content)]).items().first?.content
    else { return nil }
    return message
  }

  private static func list(_ count: Int, _ element: (Int) -> String) -> String {
    "[" + (0..<count).map(element).joined(separator: ",") + "]"
  }

  @Test(arguments: [ContentLimits.mentions, ContentLimits.mentions + 1]) func `mentioned users`(count: Int) {
    let users = Self.list(count) { "\"@u\($0):test\"" }
    let message = Self.message(#"{"msgtype":"m.text","body":"x","m.mentions":{"user_ids":\#(users)}}"#)
    #expect(message?.mentions?.users.count == ContentLimits.mentions)
  }

  @Test(arguments: [ContentLimits.linksWithoutPreview, ContentLimits.linksWithoutPreview + 1]) func `links without a preview`(
    count: Int
  ) {
    let long = "https://t/" + String(repeating: "x", count: ContentLimits.linkBytes)
    let urls = "[7,\"\(long)\"," + Self.list(count) { "\"https://t/\($0)\"" }.dropFirst()
    let message = Self.message(#"{"msgtype":"m.text","body":"x","martlet.no_preview":\#(urls)}"#)
    #expect(message?.unpreviewed.first == "https://t/0" && message?.unpreviewed.count == ContentLimits.linksWithoutPreview)
    for none in ["[]", "{}", "7", #""https://t/0""#, "[7]"] {
      #expect(Self.message(#"{"msgtype":"m.text","body":"x","martlet.no_preview":\#(none)}"#)?.unpreviewed.isEmpty == true)
    }
  }

  @Test(arguments: [0, 1]) func `all of a message of a type that is not known`(beyond: Int) {
    let head = #"{"msgtype":"org.example.order","body":"two","x":""#
    let content = head + String(repeating: "x", count: ContentLimits.contentBytes + beyond - head.utf8.count - 2) + "\"}"
    let message = Self.message(content)
    #expect(message?.kind == .unknown && message?.body == "two")
    guard case .unknown("org.example.order", let bytes)? = message?.details else { return #expect(beyond > 0) }
    #expect(beyond == 0 && String(decoding: bytes, as: UTF8.self) == content)
  }

  @Test(arguments: [ContentLimits.galleryEntries, ContentLimits.galleryEntries + 1]) func `files of a gallery`(count: Int) {
    let files = Self.list(count) { #"{"itemtype":"m.file","body":"\#($0)","url":"mxc://test/\#($0)"}"# }
    let message = Self.message(#"{"msgtype":"dm.filament.gallery","body":"x","itemtypes":\#(files)}"#)
    #expect(message?.gallery.count == ContentLimits.galleryEntries)
  }

  @Test(arguments: [ContentLimits.waveformSamples, ContentLimits.waveformSamples + 1]) func `samples of a waveform`(count: Int)
  {
    let samples = Self.list(count) { "\($0)" }
    let message = Self.message(
      #"{"msgtype":"m.audio","body":"x","m.voice":{},"m.audio":{"waveform":\#(samples)}}"#)
    #expect(message?.attachment?.waveform.count == ContentLimits.waveformSamples)
  }

  @Test func `a blurhash`() {
    for (count, isKept) in [(ContentLimits.blurHashBytes, true), (ContentLimits.blurHashBytes + 1, false)] {
      let hash = String(repeating: "A", count: count)
      let message = Self.message(#"{"msgtype":"m.image","body":"x","info":{"blurhash":"\#(hash)"}}"#)
      #expect((message?.attachment?.blurHash != nil) == isKept)
    }
  }

  @Test(arguments: [ContentLimits.pinnedEvents, ContentLimits.pinnedEvents + 1]) func `pinned events`(count: Int) {
    let pins = Self.list(count) { "\"$p\($0)\"" }
    let host = Host.inRoom([Wire.event("m.room.pinned_events", "$1", #"{"pinned":\#(pins)}"#, stateKey: "")])
    #expect(host.client.room(.test)?.pinnedEvents.count == ContentLimits.pinnedEvents)
  }

  @Test(arguments: [ContentLimits.alternativeAddresses, ContentLimits.alternativeAddresses + 1]) func `addresses`(count: Int) {
    let aliases = Self.list(count) { "\"#a\($0):test\"" }
    let event = Wire.event("m.room.canonical_alias", "$1", #"{"alt_aliases":\#(aliases)}"#, stateKey: "")
    guard case .state(.alternativeAddressesChanged(let added, _))? = Host.inRoom([event]).items().first?.content else {
      return #expect(Bool(false))
    }
    #expect(added.count == ContentLimits.alternativeAddresses)
  }

  @Test func `what is kept of others' events about one`() {
    var relations = Relations()
    let target = EventID(trusted: "$b")
    let alice = UserID(trusted: "@alice:test")
    let references = (0...Limits.references).map {
      Wire.event("org.example.ref", "$r\($0)", #"{"m.relates_to":{"rel_type":"m.reference","event_id":"$b"}}"#)
    }
    let positions = (0...Limits.liveLocationPositions).map {
      LiveLocationTests.position("geo:1,\($0)", "$p\($0)", of: "$b", time: LiveLocationTests.startTime + $0)
    }
    let shares = (0...Limits.liveLocationShares).map { LiveLocationTests.stop("$s\($0)") }
    for event in Wire.read(references + positions + shares) { relations.take(event) }
    #expect(relations.about(target)?.references.count == Limits.references)
    #expect(relations.about(target)?.positions.count == Limits.liveLocationPositions)
    #expect(relations.about(target)?.positions.last?.uri.text.string == "geo:1,\(Limits.liveLocationPositions)")
    #expect(relations.shares[alice]?.count == Limits.liveLocationShares)
  }
}
