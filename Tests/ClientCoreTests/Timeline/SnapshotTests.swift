import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Every kind of item, as it is read from the server's JSON.
@Suite struct SnapshotTests {
  private static let info = ##""info":{"mimetype":"image/png","size":1000,"w":40,"h":30,"xyz.amorgan.blurhash":"LEHV6n"}"##

  private static func message(_ id: String, _ content: String) -> String {
    Wire.event("m.room.message", id, content)
  }

  static let messages: [String] = [
    message(
      "$text",
      ##"{"msgtype":"m.text","body":"hi @bob:test","format":"org.matrix.custom.html","formatted_body":"<b>hi</b>","m.mentions":{"user_ids":["@bob:test","@bob:test",7,"nobody"],"room":true}}"##
    ),
    message("$emote", #"{"msgtype":"m.emote","body":"waves"}"#),
    message("$notice", #"{"msgtype":"m.notice","body":"beep","format":"text/x-other","formatted_body":"<i>no</i>"}"#),
    message("$image", ##"{"msgtype":"m.image","body":"a caption","filename":"cat.png","url":"mxc://test/cat",\##(info)}"##),
    message(
      "$video",
      ##"{"msgtype":"m.video","body":"film.mp4","url":"mxc://test/film","info":{"duration":5000,"mimetype":"video/mp4","thumbnail_url":"mxc://test/thumb","thumbnail_info":{"w":10,"h":20}}}"##
    ),
    message("$audio", #"{"msgtype":"m.audio","body":"song.ogg","url":"mxc://test/song","info":{"duration":1000}}"#),
    message(
      "$voice",
      #"{"msgtype":"m.audio","body":"Voice message","url":"mxc://test/v","org.matrix.msc3245.voice":{},"org.matrix.msc1767.audio":{"duration":2500,"waveform":[0,512,5000,-3]}}"#
    ),
    message(
      "$file", #"{"msgtype":"m.file","body":"a.pdf","url":"mxc://test/a","info":{"size":-4,"mimetype":"application/pdf"}}"#),
    message(
      "$place",
      #"{"msgtype":"m.location","body":"Here","geo_uri":"geo:52.5,13.4;u=30","org.matrix.msc3488.asset":{"type":"m.pin"},"org.matrix.msc3488.location":{"uri":"geo:52.5,13.4","description":"The tower"}}"#
    ),
    message("$nowhere", #"{"msgtype":"m.location","body":"Nowhere","geo_uri":"geo:952.5,13.4"}"#),
    Wire.event("m.sticker", "$sticker", ##"{"body":"A cat","url":"mxc://test/sticker",\##(info)}"##),
    message(
      "$gallery",
      ##"{"msgtype":"dm.filament.gallery","body":"Two","itemtypes":[{"itemtype":"m.image","body":"one.png","url":"mxc://test/1",\##(info)},{"itemtype":"m.text","body":"not a file"},{"itemtype":"m.file","body":"a caption","filename":"two.txt","url":"mxc://test/2"}]}"##
    ),
    message("$unknown", #"{"msgtype":"org.example.new","body":"something new"}"#)
  ]

  static let special: [String] = [
    Wire.event("m.room.encrypted", "$encrypted", #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#),
    Wire.event("m.room.message", "$emptied", "{}"),
    Wire.event(
      "m.room.message", "$because", #"{"msgtype":"m.text","body":"x"}"#,
      unsigned: #"{"redacted_because":{"type":"m.room.redaction"}}"#),
    Wire.event("m.room.message", "$nobody", #"{"msgtype":"m.text"}"#),
    Wire.event("m.room.message", "$notype", #"{"body":"x"}"#),
    Wire.event(
      "org.example.thing", "$custom", #"{"m.text":[{"mimetype":"text/html","body":"<b>"},{"body":"in words"}],"secret":1}"#),
    Wire.event("org.example.thing", "$silent", #"{"x":1}"#),
    Wire.event("m.poll.start", "$badpoll", #"{"m.poll":{"question":{"m.text":[{"body":"?"}]},"answers":[]}}"#),
    Wire.event("m.poll.start", "$nopoll", #"{"m.text":[{"body":"?"}]}"#),
    Wire.event("m.beacon_info", "$badbeacon", #"{"live":true}"#, stateKey: "@alice:test"),
    #"{"type":"m.room.message","event_id":"$noevent","sender":"@alice:test"}"#
  ]

  // Proves J29, J32
  @Test func `messages of every kind`() {
    Snapshot.compare(Snapshot.text(Host.inRoom(Self.messages).items()), "messages")
  }

  // Proves W35
  @Test func `what has no content to show`() {
    Snapshot.compare(Snapshot.text(Host.inRoom(Self.special).items()), "special")
  }

  @Test func `gaps, echoes and failures`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.sending(.send(.test, .text("mine"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    Snapshot.compare(host.texts().joined(separator: "\n") + "\n", "delivery")
    Snapshot.compare(Snapshot.text(host.items().filter { $0.eventID == nil && $0.transactionID == nil }), "gap")
  }

  @Test func `relations`() {
    var host = Host.inRoom([Wire.message("root", "$root"), Wire.message("other", "$other", by: "@bob:test")])
    host.sync(
      Wire.join([
        TimelineTests.edit("edited", of: "$root", "$e"), TimelineTests.reaction("👍", to: "$root", "$r1", by: "@bob:test"),
        TimelineTests.reaction("👍", to: "$root", "$r2", by: "@me:test"),
        Wire.event(
          "m.room.message", "$reply",
          #"{"msgtype":"m.text","body":"yes","m.relates_to":{"m.in_reply_to":{"event_id":"$root"}}}"#),
        Wire.event(
          "m.room.message", "$threaded",
          #"{"msgtype":"m.text","body":"deep","m.relates_to":{"rel_type":"m.thread","event_id":"$root","is_falling_back":true,"m.in_reply_to":{"event_id":"$root"}}}"#
        ),
        TimelineTests.redaction(of: "$other", "$x")
      ]))
    Snapshot.compare(Snapshot.text(host.items()), "relations")
  }

  @Test(arguments: [true, false]) func `polls, stable and unstable`(isStable: Bool) {
    var host = Host.inRoom([PollTests.start("$p", isStable: isStable, limit: 2)])
    host.sync(
      Wire.join([
        PollTests.vote(["a", "b"], "$v1", by: "@bob:test", isStable: isStable),
        PollTests.vote(["b"], "$v2", by: "@me:test", isStable: isStable), PollTests.end("$end", isStable: isStable)
      ]))
    Snapshot.compare(Snapshot.text(host.items()), "poll")
  }

  // Proves J30
  @Test func `state changes in words`() {
    let items = Host.inRoom(StateChangeTests.events).items()
    #expect(items.count == StateChangeTests.events.count)
    Snapshot.compare(items.flatMap { Snapshot.text($0.content) }.joined(separator: "\n") + "\n", "state")
  }

  @Test func `live locations`() {
    var host = Host.inRoom([LiveLocationTests.start("$b"), LiveLocationTests.start("$b2", by: "@bob:test", isStable: false)])
    host.sync(
      Wire.join([
        LiveLocationTests.position("geo:1,2", "$p1", of: "$b"),
        LiveLocationTests.position("geo:3,4", "$p2", of: "$b2", by: "@bob:test", isStable: false),
        LiveLocationTests.position("geo:9,9", "$forged", of: "$b", by: "@bob:test"),
        LiveLocationTests.stop("$s", by: "@bob:test")
      ]))
    Snapshot.compare(Snapshot.text(host.items()), "live-locations")
  }
}
