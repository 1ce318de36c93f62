import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct OutgoingContentTests {
  private var picture: ClientCore.Attachment {
    var picture = ClientCore.Attachment(
      fileName: "cat.png", blob: BlobHandle("cat"), mimeType: "image/png", sizeBytes: 1000, width: 640, height: 480)
    picture.blurHash = "L00000"
    return picture
  }

  private var small: ClientCore.Attachment {
    ClientCore.Attachment(
      fileName: "small.png", blob: BlobHandle("small"), mimeType: "image/png", sizeBytes: 100, width: 64, height: 48)
  }

  /// The body of the request, after its uploads.
  private func sent(_ message: OutgoingMessage, type: String = "m.room.message") -> JSON? {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    if host.request("/media/config") != nil { host.answer("/media/config", "{}") }
    var number = 0
    while host.request("/upload") != nil {
      number += 1
      host.answer("/upload", #"{"content_uri":"mxc://test/\#(number)"}"#)
    }
    return host.body("/send/\(type)/")
  }

  private func text(_ json: JSON?) -> String { json.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "" }

  @Test func `a formatted text names its format and its mentions, without the sender`() {
    let body = sent(.message(.markdown("**Hi** [Al](https://matrix.to/#/@alice:test) @me:test @room"), style: .emote))
    #expect(body?["msgtype"]?.string == "m.emote")
    #expect(body?["body"]?.string == "**Hi** Al @me:test @room")
    #expect(body?["format"]?.string == "org.matrix.custom.html")
    #expect(body?["formatted_body"]?.string?.hasPrefix("<strong>Hi</strong> <a href=") ?? false)
    #expect(text(body?["m.mentions"]) == #"{"user_ids":["@alice:test"],"room":true}"#)
  }

  // Proves P8
  @Test func `links that are to have no preview are named, and no more where the text is changed before it goes out`() {
    var formatted = FormattedText("see https://a.org")
    formatted.unpreviewed = ["https://a.org"]
    #expect(text(sent(.message(formatted))?["martlet.no_preview"]) == #"["https://a.org"]"#)
    var host = Host.inRoom()
    host.command(.sending(.setSending(nil, isEnabled: false)))
    host.command(.sending(.send(.test, .message(formatted))))
    host.command(.sending(.edit(.test, .item(host.items()[1].id), FormattedText("see https://a.org then"))))
    host.command(.sending(.setSending(nil, isEnabled: true)))
    let sent = host.body("/send/")
    #expect(sent?["body"]?.string == "see https://a.org then" && sent?["martlet.no_preview"] == nil)
    host.answer("/send/", #"{"event_id":"$2"}"#)
    host.command(.sending(.edit(.test, .event(EventID(trusted: "$2")), formatted)))
    #expect(text(host.body("/send/")?["m.new_content"]?["martlet.no_preview"]) == #"["https://a.org"]"#)
  }

  @Test func `a plain text has no HTML and says that it mentions nobody`() {
    #expect(text(sent(.text("hi", style: .notice))) == #"{"msgtype":"m.notice","body":"hi","m.mentions":{}}"#)
  }

  @Test func `what is to disturb nobody says so, whatever it is`() {
    var message = OutgoingMessage.text("hi", style: .notice)
    message.isSilent = true
    #expect(text(sent(message)) == #"{"msgtype":"m.notice","body":"hi","m.mentions":{},"martlet.silent":true}"#)
    var custom = OutgoingMessage.custom("a.b", content: Array(" {} ".utf8))
    custom.isSilent = true
    #expect(text(sent(custom, type: "a.b")) == #"{"martlet.silent":true}"#)
    let thread = SendTarget.event(EventID(trusted: "$root"))
    #expect(sent(message.inThread(thread))?["martlet.silent"]?.bool == true)
  }

  @Test func `a reply names the event it answers and its mentions`() {
    let body = sent(.text("yes").replying(to: .event(EventID(trusted: "$1")), mentioning: UserID(trusted: "@alice:test")))
    #expect(text(body?["m.relates_to"]) == #"{"m.in_reply_to":{"event_id":"$1"}}"#)
    #expect(text(body?["m.mentions"]) == #"{"user_ids":["@alice:test"]}"#)
  }

  @Test func `a message in a thread falls back to a reply, an answer in it does not`() {
    let root = SendTarget.event(EventID(trusted: "$root"))
    let plain = sent(.text("a").inThread(root, latest: EventID(trusted: "$last")))
    #expect(
      text(plain?["m.relates_to"])
        == #"{"rel_type":"m.thread","event_id":"$root","m.in_reply_to":{"event_id":"$last"},"is_falling_back":true}"#)
    let answer = sent(.text("a").inThread(root).replying(to: .event(EventID(trusted: "$x"))))
    #expect(
      text(answer?["m.relates_to"]) == #"{"rel_type":"m.thread","event_id":"$root","m.in_reply_to":{"event_id":"$x"}}"#)
  }

  @Test func `a picture goes with thumbnail, blurhash and caption`() {
    let body = sent(.media(OutgoingMedia(.image, picture, thumbnail: small, caption: .markdown("*my* cat"))))
    #expect(
      text(body)
        == #"{"msgtype":"m.image","body":"*my* cat","format":"org.matrix.custom.html","formatted_body":"<em>my</em> cat","#
        + #""filename":"cat.png","url":"mxc://test/2","info":{"mimetype":"image/png","size":1000,"w":640,"h":480,"#
        + #""xyz.amorgan.blurhash":"L00000","thumbnail_url":"mxc://test/1","thumbnail_info":{"mimetype":"image/png","size":100,"#
        + #""w":64,"h":48}},"m.mentions":{}}"#)
  }

  @Test func `a voice message has its length and waveform`() {
    var voice = ClientCore.Attachment(fileName: "voice.ogg", blob: BlobHandle("v"), mimeType: "audio/ogg", sizeBytes: 10)
    voice.durationMilliseconds = 2500
    voice.waveform = [0, 512, 2000]
    let body = sent(.media(OutgoingMedia(.voice, voice)))
    #expect(body?["msgtype"]?.string == "m.audio")
    #expect(body?["info"]?["duration"]?.integer == 2500)
    #expect(text(body?["org.matrix.msc3245.voice"]) == "{}")
    #expect(text(body?["org.matrix.msc1767.audio"]) == #"{"duration":2500,"waveform":[0,512,1024]}"#)
  }

  @Test func `a gallery is one event`() {
    let body = sent(
      .gallery([OutgoingMedia(.image, picture, thumbnail: small), OutgoingMedia(.file, small)], caption: FormattedText("trip")))
    #expect(body?["msgtype"]?.string == "dm.filament.gallery")
    #expect(body?["body"]?.string == "trip")
    let items = body.flatMap { $0["itemtypes"] }.map { Array($0.elements) } ?? []
    #expect(items.map { $0["itemtype"]?.string } == ["m.image", "m.file"])
    #expect(items.map { $0["url"]?.string } == ["mxc://test/2", "mxc://test/3"])
    #expect(items.first?["info"]?["thumbnail_url"]?.string == "mxc://test/1")
  }

  @Test func `galleries have an end`() {
    let media = OutgoingMedia(.file, small)
    for (count, result) in [(0, "invalidContent"), (60, "queued"), (61, "invalidContent")] {
      var host = Host.inRoom()
      host.command(.sending(.send(.test, .gallery(Array(repeating: media, count: count)))))
      #expect(host.result() == result)
    }
  }

  // Proves J25, T13
  @Test func `a sticker, a place and a custom event have the standard's content`() {
    var sticker = picture
    sticker.blob = nil
    sticker.source = MediaURI("mxc://test/s")
    #expect(sent(.sticker(sticker, body: "cat"), type: "m.sticker")?["url"]?.string == "mxc://test/s")
    let place = sent(.location(OutgoingLocation(geoURI: "geo:51.5,0.1;u=35", description: "home", isOwnPosition: false)))
    #expect(place?["msgtype"]?.string == "m.location")
    #expect(place?["geo_uri"]?.string == "geo:51.5,0.1;u=35")
    #expect(text(place?["org.matrix.msc3488.location"]) == #"{"uri":"geo:51.5,0.1;u=35","description":"home"}"#)
    #expect(text(place?["org.matrix.msc3488.asset"]) == #"{"type":"m.pin"}"#)
    let own = #"{"a":[1,{"b":null}],"url":"upload:0","m.relates_to":{"rel_type":"x","event_id":"$1"}}"#
    #expect(text(sent(.custom("org.example.thing", content: Array(own.utf8)), type: "org.example.thing")) == own)
  }

  @Test func `an event that is no object or too large is refused before it is sent`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .custom("a.b", content: Array("[]".utf8)))))
    #expect(host.result() == "invalidContent")
    host.command(.sending(.send(.test, .text(ByteString(String(repeating: "x", count: ContentLimits.contentBytes))))))
    #expect(host.result() == "tooLarge(limitBytes: 60000)")
    host.command(.sending(.send(.test, .text(ByteString(String(repeating: "x", count: ContentLimits.contentBytes - 100))))))
    #expect(host.result() == "queued")
  }

  @Test func `a poll starts, takes votes and ends, by the names clients know`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .poll(OutgoingPoll(question: "Tea?", answers: ["yes", "no"], isDisclosed: false)))))
    guard case .queued(let poll) = host.finished[9] else { return #expect(Bool(false), "not queued") }
    host.command(.sending(.vote(.test, poll: .sending(poll), answers: ["1"])))
    host.command(.sending(.endPoll(.test, poll: .sending(poll), text: "over")))
    let start = host.body("/send/org.matrix.msc3381.poll.start/")
    #expect(
      text(start?["org.matrix.msc3381.poll.start"])
        == #"{"question":{"org.matrix.msc1767.text":"Tea?","body":"Tea?","msgtype":"m.text"},"#
        + #""kind":"org.matrix.msc3381.poll.undisclosed","max_selections":1,"#
        + #""answers":[{"id":"1","org.matrix.msc1767.text":"yes"},{"id":"2","org.matrix.msc1767.text":"no"}]}"#)
    #expect(start?["org.matrix.msc1767.text"]?.string == "Tea?\n1. yes\n2. no")
    host.answer("/send/", #"{"event_id":"$poll"}"#)
    #expect(
      text(host.body("/send/org.matrix.msc3381.poll.response/"))
        == #"{"org.matrix.msc3381.poll.response":{"answers":["1"]},"m.relates_to":{"rel_type":"m.reference","event_id":"$poll"}}"#
    )
    host.answer("/send/", #"{"event_id":"$vote"}"#)
    #expect(
      text(host.body("/send/org.matrix.msc3381.poll.end/"))
        == #"{"org.matrix.msc3381.poll.end":{},"org.matrix.msc1767.text":"over","m.relates_to":{"rel_type":"m.reference","event_id":"$poll"}}"#
    )
  }

  @Test(arguments: [
    OutgoingPoll(question: "", answers: ["a"]), OutgoingPoll(question: "q", answers: []),
    OutgoingPoll(question: "q", answers: Array(repeating: "a", count: 21)), OutgoingPoll(question: "q", answers: ["a", ""]),
    OutgoingPoll(question: "q", answers: ["a"], selectionLimit: 2),
    OutgoingPoll(question: "q", answers: ["a"], selectionLimit: 0)
  ]) func `a poll that nobody could answer is refused`(poll: OutgoingPoll) {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .poll(poll))))
    #expect(host.result() == "invalidContent")
  }

  @Test func `a shared position begins, moves and ends`() {
    var host = Host.inRoom()
    host.command(.sending(.setBeacon(.test, BeaconInfo(description: "walk", timeoutMilliseconds: 60_000))))
    guard case .queued(let beacon) = host.finished[9] else { return #expect(Bool(false), "not queued") }
    host.command(.sending(.sendBeacon(.test, info: .sending(beacon), geoURI: "geo:1,2", description: nil)))
    let info = host.body("/state/org.matrix.msc3672.beacon_info/%40me%3Atest")
    #expect(info?["live"]?.bool == true)
    #expect(info?["timeout"]?.integer == 60_000)
    #expect(info?["org.matrix.msc3488.ts"]?.integer == host.now)
    host.answer("/state/", #"{"event_id":"$info"}"#)
    let move = host.body("/send/org.matrix.msc3672.beacon/")
    #expect(text(move?["m.relates_to"]) == #"{"rel_type":"m.reference","event_id":"$info"}"#)
    #expect(text(move?["org.matrix.msc3488.location"]) == #"{"uri":"geo:1,2"}"#)
    host.answer("/send/", #"{"event_id":"$move"}"#)
    host.command(
      .sending(.setBeacon(.test, BeaconInfo(timeoutMilliseconds: 60_000, startedAtMilliseconds: 5, isLive: false))))
    let end = host.body("/state/org.matrix.msc3672.beacon_info/")
    #expect(end?["live"]?.bool == false)
    #expect(end?["org.matrix.msc3488.ts"]?.integer == 5)
  }

  // MARK: Pins

  private func roomWithLevels(_ state: Int) -> Host {
    var host = Host.signedIn()
    let create = Wire.event("m.room.create", "$c", by: "@bob:test", #"{"room_version":"11"}"#, stateKey: "")
    let levels = Wire.event(
      "m.room.power_levels", "$p", by: "@bob:test", #"{"state_default":\#(state),"users":{"@bob:test":100}}"#, stateKey: "")
    host.sync(Wire.join([Wire.message("one", "$1")], state: [create, levels] + Wire.members))
    return host
  }

  @Test func `pinning is refused here where the power is missing`() {
    var host = roomWithLevels(50)
    host.command(.sending(.pin(.test, EventID(trusted: "$1"))))
    #expect(host.result() == "notAllowed")
    #expect(host.request("/state/") == nil)
  }

  @Test func `pinning adds to what is pinned, once, and says what the server refuses`() {
    var host = roomWithLevels(0)
    host.command(.sending(.pin(.test, EventID(trusted: "$1"))))
    host.answer("/state/m.room.pinned_events/", #"{"pinned":["$0"]}"#)
    #expect(text(host.body("/state/m.room.pinned_events/")) == #"{"pinned":["$0","$1"]}"#)
    host.answer("/state/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result().contains("refused"))
    host.command(.sending(.pin(.test, EventID(trusted: "$1"))))
    host.answer("/state/", #"{"pinned":["$0","$1"]}"#)
    #expect(host.result() == "done")
    host.command(.sending(.unpin(.test, EventID(trusted: "$0"))))
    host.answer("/state/", #"{"pinned":["$0","$1"]}"#)
    #expect(text(host.body("/state/")) == #"{"pinned":["$1"]}"#)
    host.answer("/state/", #"{"event_id":"$p"}"#)
    #expect(host.result() == "done")
    host.command(.sending(.pin(.test, EventID(trusted: "$1"))))
    host.answer("/state/", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(text(host.body("/state/")) == #"{"pinned":["$1"]}"#)
  }
}
