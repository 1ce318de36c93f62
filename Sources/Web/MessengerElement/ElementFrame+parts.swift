import JSON
import Messenger

/// What a message consists of, from JSON. `Part` of `Web/martlet-messenger.d.ts`.
extension ElementFrame {
  /// More parts than this are not shown.
  private static let partsLimit = 20

  /// Empty for a message of nothing but text.
  func parts(_ row: JSON) -> [ContentPart] {
    guard let list = row["parts"] else {
      guard let only = part(row) else { return [] }
      let caption = row["text"]?.string ?? ""
      return caption.utf8.isEmpty ? [only] : [only, .text(caption)]
    }
    var parts: [ContentPart] = []
    for value in list.elements where parts.count < ElementFrame.partsLimit {
      if let part = part(value) {
        parts.append(part)
      } else if let text = value["text"]?.string {
        parts.append(.text(text))
      }
    }
    return parts
  }

  private func part(_ value: JSON) -> ContentPart? {
    if let image = value["image"] { return .image(picture(image)) }
    if let images = value["images"] { return .gallery(gallery(images, value)) }
    if let video = value["video"] {
      return .video(VideoBody(poster: picture(video), durationMilliseconds: max(0, video.integer("duration") ?? 0)))
    }
    if let file = value["file"] {
      return .file(FileBody(name: text(file, "name"), detail: text(file, "detail")))
    }
    if let audio = value["audio"] { return .audio(self.audio(audio)) }
    if let custom = value["custom"] {
      return .custom(
        CustomContent(
          kind: text(custom, "kind"), payload: custom["data"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? "null",
          spoken: text(custom, "text"), height: Double(max(0, custom.integer("height") ?? 0))))
    }
    if let place = value["location"] {
      return .location(
        LocationBody(name: text(place, "name"), detail: text(place, "detail"), isLive: place.bool("live") ?? false))
    }
    if let poll = value["poll"] { return .poll(self.poll(poll)) }
    if let link = value["preview"] {
      return .preview(
        LinkPreview(
          url: text(link, "url"), title: text(link, "title"), text: text(link, "text"), site: text(link, "site"),
          picture: link["picture"].map { picture($0) }))
    }
    return nil
  }

  private func text(_ value: JSON, _ name: StaticString) -> String { value[ByteString(stringLiteral: name)]?.string ?? "" }

  private func audio(_ value: JSON) -> AudioBody {
    var waveform: [UInt8] = []
    if let list = value["waveform"] { for bar in list.elements { waveform.append(UInt8(clamping: bar.integer ?? 0)) } }
    return AudioBody(
      name: text(value, "name"), detail: text(value, "detail"), source: value["source"]?.string,
      durationMilliseconds: max(0, value.integer("duration") ?? 0), waveform: waveform, isVoice: value.bool("voice") ?? false)
  }

  private func picture(_ image: JSON) -> ImageBody {
    ImageBody(
      name: text(image, "name"), thumbnail: image["source"]?.string, width: Int(clamping: image.integer("width") ?? 0),
      height: Int(clamping: image.integer("height") ?? 0), blurHash: text(image, "blurHash"))
  }

  private func gallery(_ images: JSON, _ part: JSON) -> GalleryBody {
    var items: [GalleryBody.Item] = []
    for image in images.elements { items.append(GalleryBody.Item(picture(image), isVideo: image.bool("video") ?? false)) }
    let rows = Int(clamping: part.integer("rows") ?? 1)
    return GalleryBody(items: items, layout: rows > 1 ? .grid(rows: rows) : .row)
  }

  private func poll(_ value: JSON) -> PollBody {
    var answers: [PollBody.Answer] = []
    if let list = value["answers"] {
      for answer in list.elements {
        answers.append(
          PollBody.Answer(
            id: text(answer, "id"), text: text(answer, "text"), votes: answer["votes"]?.integer.map { Int(clamping: $0) },
            isOwn: answer.bool("own") ?? false))
      }
    }
    return PollBody(
      question: text(value, "question"), answers: answers, choiceLimit: Int(clamping: max(1, value.integer("choices") ?? 1)),
      voterCount: Int(clamping: max(0, value.integer("voters") ?? 0)), isEnded: value.bool("ended") ?? false)
  }
}
