import MatrixClient

func startConversations(_ client: MatrixClient, _ bob: UserID, _ carol: UserID, _ dave: UserID) async throws {
  // ARTICLE
  let chat = try await client.directChat(with: bob)
  let group = try await client.groupChat(with: [bob, carol], name: "Three of us")
  try await group.invite(dave)
  // ARTICLE
  print(chat.id)
}

func writeAndRead(_ client: MatrixClient, in chat: MatrixRoom) async throws {
  // ARTICLE
  try await chat.setTyping(true)
  try await chat.send("The report").sent()
  try await chat.sendFile("report.pdf", mimeType: "application/pdf") { sent, total in
    print("\(sent) of \(total) bytes")
  }
  try await chat.markRead()
  try await client.markAllRead()
  // ARTICLE
}

func showFiles(_ client: MatrixClient, in chat: MatrixRoom) async throws {
  // ARTICLE
  await client.useMediaCache(MediaCache(folder: "media"))
  for item in await chat.timeline().items {
    guard let file = item.message?.attachment, let uri = file.thumbnail ?? file.source else { continue }
    let bytes = try await client.media(uri)
    print(file.fileName, bytes.count)
  }
  // ARTICLE
}

func listConversations(of client: MatrixClient) async throws {
  // ARTICLE
  for room in await client.rooms {
    let last = room.preview?.content?.body ?? ""
    print(room.name.english, room.isDirect, last, room.notificationCount, room.highlightCount)
  }
  // ARTICLE
}

func endConversations(_ client: MatrixClient, _ group: MatrixRoom, _ chat: MatrixRoom) async throws {
  // ARTICLE
  try await chat.hide()
  try await client.hideRooms()
  try await group.end()
  try await group.rejoin()
  try await client.endAll { done, total in print("\(done) of \(total)") }
  // ARTICLE
}

func follow(_ client: MatrixClient) async throws {
  // ARTICLE
  for await event in await client.events {
    switch event {
    case .message(let room, let message): print(room, message.sender, message.content?.body ?? "")
    case .delivery(let room, .sent(_, let event)): print(room, "has", event)
    case .typingStarted(let room, let user): print(room, user, "writes")
    default: break
    }
  }
  // ARTICLE
}
