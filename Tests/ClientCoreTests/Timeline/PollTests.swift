import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct PollTests {
  static func start(
    _ id: String, isStable: Bool = true, limit: Int = 1, isDisclosed: Bool = true, by sender: String = "@alice:test"
  ) -> String {
    let kind = isDisclosed ? "disclosed" : "undisclosed"
    let content =
      isStable
      ? #"{"m.text":[{"body":"Which?"}],"m.poll":{"kind":"m.\#(kind)","max_selections":\#(limit),"question":{"m.text":[{"body":"Which?"}]},"answers":[{"m.id":"a","m.text":[{"body":"A"}]},{"m.id":"b","m.text":[{"body":"B"}]}]}}"#
      : #"{"org.matrix.msc1767.text":"Which?","org.matrix.msc3381.poll.start":{"kind":"org.matrix.msc3381.poll.\#(kind)","max_selections":\#(limit),"question":{"org.matrix.msc1767.text":"Which?"},"answers":[{"id":"a","org.matrix.msc1767.text":"A"},{"id":"b","org.matrix.msc1767.text":"B"}]}}"#
    return Wire.event(isStable ? "m.poll.start" : "org.matrix.msc3381.poll.start", id, by: sender, content)
  }

  static func vote(
    _ answers: [String], _ id: String, by sender: String, time: Int = 1_700_000_000_100, of poll: String = "$p",
    isStable: Bool = true
  ) -> String {
    let list = "[" + answers.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    let relation = #""m.relates_to":{"rel_type":"m.reference","event_id":"\#(poll)"}"#
    let content =
      isStable
      ? #"{\#(relation),"m.selections":\#(list)}"#
      : #"{\#(relation),"org.matrix.msc3381.poll.response":{"answers":\#(list)}}"#
    return Wire.event(
      isStable ? "m.poll.response" : "org.matrix.msc3381.poll.response", id, by: sender, time: time, content)
  }

  static func end(
    _ id: String, by sender: String = "@alice:test", time: Int = 1_700_000_000_500, isStable: Bool = true
  ) -> String {
    Wire.event(
      isStable ? "m.poll.end" : "org.matrix.msc3381.poll.end", id, by: sender, time: time,
      #"{"m.relates_to":{"rel_type":"m.reference","event_id":"$p"},"m.text":[{"body":"Over"}]}"#)
  }

  /// Votes per answer, and the user's own.
  static func result(_ host: Host) -> String {
    guard case .message(let message)? = host.items().first?.content, let poll = message.poll else { return "no poll" }
    let answers = poll.answers.map { "\($0.id):\($0.voters.count)\($0.isOwn ? "*" : "")" }.joined(separator: " ")
    return answers + " of \(poll.voterCount)" + (poll.endedAtMilliseconds == nil ? "" : " ended")
  }

  private static func poll(limit: Int = 1, isDisclosed: Bool = true, _ events: [String]) -> String {
    var host = Host.inRoom([start("$p", limit: limit, isDisclosed: isDisclosed)])
    host.sync(Wire.join(events))
    return result(host)
  }

  @Test func `a person's last vote counts, whatever order votes come in`() {
    let first = Self.vote(["a"], "$v1", by: "@bob:test", time: 1_700_000_000_100)
    let second = Self.vote(["b"], "$v2", by: "@bob:test", time: 1_700_000_000_200)
    #expect(Self.poll([first, second]) == "a:0 b:1 of 1")
    #expect(Self.poll([second, first]) == "a:0 b:1 of 1")
  }

  @Test func `answers keep their order, with the user's own marked`() {
    #expect(Self.poll([]) == "a:0 b:0 of 0")
    #expect(Self.poll([Self.vote(["b"], "$v", by: "@me:test")]) == "a:0 b:1* of 1")
    #expect(Self.poll(limit: 2, [Self.vote(["b", "a"], "$v", by: "@me:test")]) == "a:1* b:1* of 1")
  }

  @Test func `votes after the end do not count, the last one before it does`() {
    let events = [
      Self.vote(["a"], "$v1", by: "@bob:test"), Self.end("$end"),
      Self.vote(["b"], "$v2", by: "@bob:test", time: 1_700_000_000_501),
      Self.vote(["b"], "$v3", by: "@me:test", time: 1_700_000_000_500)
    ]
    #expect(Self.poll(events) == "a:1 b:1* of 2 ended")
  }

  @Test func `of too many answers the first ones count, each once`() {
    #expect(Self.poll(limit: 1, [Self.vote(["b", "a"], "$v", by: "@bob:test")]) == "a:0 b:1 of 1")
    #expect(Self.poll(limit: 2, [Self.vote(["b", "b", "a"], "$v", by: "@bob:test")]) == "a:1 b:1 of 1")
  }

  @Test(arguments: [["x"], ["a", "x"], []]) func `a vote without a known answer does not count`(answers: [String]) {
    let events = [
      Self.vote(["a"], "$v1", by: "@bob:test"), Self.vote(answers, "$v2", by: "@bob:test", time: 1_700_000_000_200)
    ]
    #expect(Self.poll(events) == "a:0 b:0 of 0")
  }

  @Test func `before the end of a closed poll only the user's own vote shows`() {
    let votes = [Self.vote(["a"], "$v1", by: "@bob:test"), Self.vote(["a"], "$v2", by: "@me:test")]
    #expect(Self.poll(isDisclosed: false, votes) == "a:1* b:0 of 2")
    #expect(Self.poll(isDisclosed: false, votes + [Self.end("$end")]) == "a:2* b:0 of 2 ended")
  }

  @Test func `only who asked ends a poll, or who may redact`() {
    #expect(Self.poll([Self.end("$end", by: "@bob:test")]) == "a:0 b:0 of 0")
    var host = Host.inRoom([
      Wire.event("m.room.create", "$create", #"{"room_version":"10"}"#, stateKey: ""),
      Wire.event("m.room.power_levels", "$power", #"{"users":{"@bob:test":50}}"#, stateKey: ""), Self.start("$p")
    ])
    host.sync(Wire.join([Self.end("$end", by: "@bob:test")]))
    let poll = host.items().compactMap { item -> Poll? in
      if case .message(let message) = item.content { message.poll } else { nil }
    }
    #expect(poll.first?.endedAtMilliseconds == 1_700_000_000_500)
  }

  @Test func `a vote that is redacted counts no more, the one before it does`() {
    let events = [
      Self.vote(["a"], "$v1", by: "@bob:test"), Self.vote(["b"], "$v2", by: "@bob:test", time: 1_700_000_000_200),
      TimelineTests.redaction(of: "$v2", "$x")
    ]
    #expect(Self.poll(events) == "a:1 b:0 of 1")
  }

  @Test func `an edit of the question keeps the votes`() {
    let edit = Wire.event(
      "m.poll.start", "$e", time: 1_700_000_000_050,
      #"{"m.relates_to":{"rel_type":"m.replace","event_id":"$p"},"m.new_content":{"m.poll":{"kind":"m.disclosed","question":{"m.text":[{"body":"What?"}]},"answers":[{"m.id":"a","m.text":[{"body":"A"}]}]}}}"#
    )
    var host = Host.inRoom([Self.start("$p")])
    host.sync(Wire.join([Self.vote(["a"], "$v1", by: "@bob:test"), edit, TimelineTests.edit("text", of: "$p", "$no")]))
    #expect(host.texts() == ["What?"])
    #expect(Self.result(host) == "a:1 of 1")
  }

  @Test func `answers beyond the limit are left out`() {
    let answers = (0..<25).map { #"{"m.id":"\#($0)","m.text":[{"body":"x"}]}"# }.joined(separator: ",")
    let content = #"{"m.poll":{"question":{"m.text":[{"body":"?"}]},"max_selections":900,"answers":[\#(answers)]}}"#
    let host = Host.inRoom([Wire.event("m.poll.start", "$p", content)])
    guard case .message(let message)? = host.items().first?.content else { return #expect(Bool(false)) }
    #expect(message.poll?.answers.count == ContentLimits.pollAnswers)
    #expect(message.poll?.selectionLimit == ContentLimits.pollAnswers)
  }
}
