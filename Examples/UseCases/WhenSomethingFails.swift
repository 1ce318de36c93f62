import MatrixClient

func joinAndSay(_ client: MatrixClient) async {
  // ARTICLE
  do {
    let room = try await client.join("#tea:example.org")
    try await room.send("Hello").sent()
  } catch ClientError.refused(_, .forbidden, let message, _) {
    print("Ask for an invitation:", message)
  } catch {
    print(error.english)
  }
  // ARTICLE
}
