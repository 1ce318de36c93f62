import MatrixClient

/// Files.
extension LiveCase {
  static let media = [
    LiveCase("M1 the server says how large a file may be") { stage in
      let limit = try unwrap(try await stage.user("alice").uploadLimit(), "limit")
      try expect(limit > 0, "\(limit) bytes")
    },
    LiveCase("M1 an upload's progress ends at its size") { stage in
      let alice = try await stage.user("alice")
      let path = try stage.folder.file("large", [UInt8](repeating: 7, count: 1 << 20))
      let (steps, continuation) = AsyncStream.makeStream(of: [Int64].self)
      let uri = try await alice.upload(path: path, mimeType: "application/octet-stream", fileName: "large") {
        continuation.yield([$0, $1])
      }
      continuation.finish()
      var last: [Int64] = [0, 0]
      for await step in steps {
        try expect(step[0] >= last[0], "it never goes back")
        last = step
      }
      try expect(last, is: [1 << 20, 1 << 20])
      try expect(uri.serverName, is: try await alice.ownID.serverName)
    },
    LiveCase("M1 a file that is too large is refused before it is sent") { stage in
      let alice = try await stage.user("alice")
      guard let limit = try await alice.uploadLimit() else { throw NotAnnounced(what: "no m.upload.size") }
      let path = try stage.folder.sparseFile("huge", bytes: limit + 1)
      do { _ = try await alice.upload(path: path, mimeType: "video/mp4") } catch ClientError.tooLarge(let said) {
        return try expect(said, is: limit)
      }
      throw Failure("it was sent")
    },
    LiveCase("M1 a place is reserved, and filled once", needs: .version(minor: 7)) { stage in
      let alice = try await stage.user("alice")
      let reserved = try await alice.reserveMedia()
      let path = try stage.folder.file("late.png", Picture.png)
      let uri = try await alice.upload(path: path, mimeType: "image/png", into: reserved.uri)
      try expect(uri, is: reserved.uri)
      try await expectRefusal("M_CANNOT_OVERWRITE_MEDIA") {
        _ = try await alice.upload(path: path, mimeType: "image/png", into: reserved.uri)
      }
    },
    LiveCase("M1 a file that is gone is a typed error") { stage in
      let alice = try await stage.user("alice")
      do { _ = try await alice.upload(path: stage.folder.path + "/none", mimeType: "image/png") } catch ClientError
        .attachmentIsGone
      { return }
      throw Failure("it was sent")
    },
    LiveCase("M2 a file comes back as it was sent, and a second ask costs nothing") { stage in
      let alice = try await stage.user("alice")
      let path = try stage.folder.file("face.png", Picture.png)
      let uri = try await alice.upload(path: path, mimeType: "image/png")
      async let first = alice.media(uri)
      async let second = alice.media(uri)
      let bytes = try await [first, second]
      try expect(bytes, is: [Picture.png, Picture.png])
      try expect(FileSignature(bytes[0]), is: .png)
      try expect(await alice.mediaCache.contains(uri), "it is kept")
    },
    LiveCase("M4 the cache never has more bytes than it may") { stage in
      let alice = try await stage.user("alice")
      let cache = MediaCache(
        folder: stage.folder.path + "/media", retention: MediaRetention(diskBytes: 2_500_000, fileBytes: 1_500_000))
      await alice.useMediaCache(cache)
      for number in 1...4 {
        let path = try stage.folder.file("large\(number)", [UInt8](repeating: UInt8(number), count: 1_000_000))
        let uri = try await alice.upload(path: path, mimeType: "application/octet-stream")
        _ = try await alice.mediaFile(uri)
        let bytes = await cache.diskBytes
        try expect(bytes <= 2_500_000, "\(bytes) bytes")
      }
      await cache.clear()
      try expect(await cache.diskBytes, is: 0)
    },
    // Proves J28
    LiveCase("T4 a file is sent, and the others see its name, type and size") { stage in
      let (alice, bob) = try await stage.pair()
      let path = try stage.folder.file("face.png", Picture.png)
      let attachment = Attachment(
        fileName: "face.png", blob: BlobHandle(ByteString(path)), mimeType: "image/png",
        sizeBytes: Int64(Picture.png.count), width: 1, height: 1)
      try await alice.client.perform(.timeline(.openRoom(alice.id)))
      try await alice.send(.attachment(kind: .image, attachment))
      let item = try await bob.item("the picture") { item in
        if case .message(let message) = item.content { message.kind == .image } else { false }
      }
      guard case .message(let message) = item.content, let file = message.attachment else {
        throw Failure("no file")
      }
      try expect(file.fileName, is: "face.png")
      try expect(file.mimeType, is: "image/png")
      try expect(file.sizeBytes, is: Int64(Picture.png.count))
      try expect(file.source?.serverName, is: try await alice.client.ownID.serverName)
    }
  ]
}
