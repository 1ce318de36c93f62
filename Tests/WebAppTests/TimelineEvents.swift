/// One event of a room's timeline: `content` is JSON, `state` its state key.
func event(
  _ id: String, _ content: String, type: String = "m.room.message", by sender: String = "@boris:chat.example",
  at seconds: Int = 10, state: String? = nil
) -> String {
  let key = state.map { "\"state_key\":\"\($0)\"," } ?? ""
  return """
    {"type":"\(type)","event_id":"\(id)","sender":"\(sender)",\(key)"origin_server_ts":\(seconds * 1000),"content":\(content)}
    """
}

/// The content of a message.
func text(_ body: String) -> String { #"{"msgtype":"m.text","body":"\#(body)"}"# }
