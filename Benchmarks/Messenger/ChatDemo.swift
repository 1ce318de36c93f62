import Messenger
import WebHost

/// A text chat whose other side says everything again; "/undo" takes the last message away, "/look" gives other bubbles.
func makeChat(dom: BatchDOM) -> TextChat<BatchDOM> {
  var configuration = TextChatConfiguration(senderID: "me", alias: "Me")
  configuration.title = "Text chat"
  configuration.hasCloseButton = true
  configuration.maximumLength = 40
  configuration.options = Host.timelineOptions()
  configuration.options.actions = []
  configuration.options.avatars = .groupEnd
  let chat = TextChat(dom: dom, configuration: configuration, now: { Host.wallClockMilliseconds() })
  dom.append(chat.root, to: .root)
  chat.onClose = { chat.close() }
  chat.onReadyToSend = { outgoing in
    if outgoing.text.hasSameBytes(as: "/undo") {
      if let last = chat.view.rows.last { chat.view.removeFromGroup(last) }
      return false
    }
    if outgoing.text.hasSameBytes(as: "/look") {
      chat.view.setBubbles(.simple)
      return false
    }
    Host.after(milliseconds: 50) { chat.addMessage("echo: " + outgoing.text, senderID: "you", alias: "You") }
    return true
  }
  for number in 0..<3 { chat.addMessage("message \(number)", senderID: "you", alias: "You") }
  return chat
}
