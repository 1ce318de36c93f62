import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite("Forwarding")
struct ForwardingTests {
  private enum Missing: Error { case message }

  private func content(_ message: OutgoingMessage?) throws -> (type: EventType, content: JSON) {
    guard case .custom(let type, let bytes)? = message?.body else { throw Missing.message }
    return (type, try JSON.parse(bytes))
  }

  @Test("A forwarded text answers nobody and notifies nobody by name")
  func text() throws {
    var message = MessageContent(kind: .text, body: "**hi** Bo", formattedBody: "<b>hi</b> Bo")
    message.mentions = Mentions(users: [UserID(trusted: "@bo:x")], room: true)
    let (type, content) = try content(.forwarding(message))
    #expect(type == .message && content.text("body") == "**hi** Bo" && content.text("formatted_body") == "<b>hi</b> Bo")
    #expect(
      content["m.mentions"]?["user_ids"] == nil && content["m.mentions"]?["room"] == nil && content["m.relates_to"] == nil)
    #expect(OutgoingMessage.forwarding(MessageContent(kind: .image, body: "x"))?.body == nil)
  }

  @Test("A forwarded message says who wrote it, and keeps that when it is forwarded once more")
  func origin() throws {
    let bo = MessageContent.Origin(sender: UserID(trusted: "@bo:x"), name: "Bo")
    let (_, first) = try content(.forwarding(MessageContent(kind: .text, body: "hi"), from: bo))
    #expect(first.text("body") == "hi" && first["martlet.forwarded"]?["name"]?.isString("Bo") == true)
    let read = try MessageContent(first, type: .message)
    #expect(read.origin == bo)
    let cy = MessageContent.Origin(sender: UserID(trusted: "@cy:x"))
    let (_, second) = try content(.forwarding(read, from: cy))
    #expect(try MessageContent(second, type: .message).origin == bo)
    let file = #"{"type":"m.room.message","content":{"msgtype":"m.file","body":"a","martlet.forwarded":{"sender":"no user"}}}"#
    let (_, third) = try content(.forwarding(try JSON.parse(Array(file.utf8)), from: cy))
    #expect(third["martlet.forwarded"]?["sender"]?.isString("@cy:x") == true && third["martlet.forwarded"]?["name"] == nil)
  }

  @Test("A forwarded file stays where it is, and loses what tied it to its room")
  func file() throws {
    let event = try JSON.parse(
      Array(
        #"""
        {"type":"m.room.message","content":{"msgtype":"m.image","body":"a.png","url":"mxc://x/a","m.mentions":{"room":true},
        "m.relates_to":{"m.in_reply_to":{"event_id":"$1"}},"martlet.silent":true}}
        """#.utf8))
    let (type, content) = try content(.forwarding(event))
    #expect(type == .message && content.text("url") == "mxc://x/a")
    #expect(content["m.relates_to"] == nil && content["martlet.silent"] == nil && content["m.mentions"]?["room"] == nil)
  }

  @Test(
    "Events that are not messages are not forwarded",
    arguments: [
      #"{"type":"m.room.name","state_key":"","content":{"name":"x"}}"#, #"{"type":"m.reaction","content":{}}"#,
      #"{"type":"m.room.encrypted","content":{}}"#, #"{"type":"m.room.message"}"#, #"{"type":"m.room.message","content":[]}"#,
      "{}", "[]"
    ])
  func others(event: String) throws {
    #expect(OutgoingMessage.forwarding(try JSON.parse(Array(event.utf8)))?.body == nil)
  }
}
