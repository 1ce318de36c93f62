/// One piece of a message's content. A message has any number of them, one below the other.
public indirect enum ContentPart: Sendable {
  /// Plain text; addresses in it can be clicked.
  case text(String)
  case rich(RichText)
  case image(ImageBody)
  case video(VideoBody)
  case gallery(GalleryBody)
  case file(FileBody)
  case audio(AudioBody)
  case location(LocationBody)
  case poll(PollBody)
  /// A picture without a bubble.
  case sticker(ImageBody)
  case preview(LinkPreview)
  case contact(ContactBody)
  /// What a renderer draws that the host registered.
  case custom(CustomContent)

  /// Whether its bytes have to be sent before the message.
  var isFile: Bool {
    switch self {
    case .image, .video, .gallery, .file, .audio: true
    default: false
    }
  }
}

extension MessageRow.Body {
  public static func image(_ image: ImageBody) -> Self { .parts([.image(image)]) }
  public static func file(_ file: FileBody) -> Self { .parts([.file(file)]) }

  var parts: [ContentPart] {
    if case .parts(let parts, _) = self { return parts }
    return []
  }
}

public struct ImageBody: Sendable {
  /// File name or description, read aloud instead of the image.
  public var name: String
  /// The source of the picture in the row; nil until there is one.
  public var thumbnail: String?
  /// Pixels of the original; they fix the row's height before anything is loaded. 0 where unknown.
  public var width: Int
  public var height: Int
  /// What stands in the box until the picture is loaded; empty where unknown. Source: woltapp/blurhash, "Algorithm".
  public var blurHash: String
  /// 0...1 while the bytes are on their way up, else nil.
  public var uploadProgress: Double?

  public init(
    name: String, thumbnail: String?, width: Int, height: Int, blurHash: String = "", uploadProgress: Double? = nil
  ) {
    self.name = name
    self.thumbnail = thumbnail
    self.width = width
    self.height = height
    self.blurHash = blurHash
    self.uploadProgress = uploadProgress
  }
}

public struct VideoBody: Sendable {
  /// The picture shown in its place; its name is the video's.
  public var poster: ImageBody
  /// 0 where unknown.
  public var durationMilliseconds: Int64

  public init(poster: ImageBody, durationMilliseconds: Int64 = 0) {
    self.poster = poster
    self.durationMilliseconds = durationMilliseconds
  }
}

/// Several pictures and videos in one message.
public struct GalleryBody: Sendable {
  public enum Layout: Equatable, Sendable {
    /// One row that scrolls sideways.
    case row
    /// This many rows, with as many columns as that takes.
    case grid(rows: Int)
  }

  public struct Item: Sendable {
    public var picture: ImageBody
    public var isVideo: Bool
    public init(_ picture: ImageBody, isVideo: Bool = false) {
      self.picture = picture
      self.isVideo = isVideo
    }
  }

  /// More than this many are not drawn; the last one says how many are missing.
  public static let itemsLimit = 60

  public var items: [Item]
  public var layout: Layout

  public init(items: [Item], layout: Layout) {
    self.items = items
    self.layout = layout
  }
}

public struct FileBody: Sendable {
  public var name: String
  /// Second line, for example size and type, in the reader's language.
  public var detail: String
  /// 0...1 while the bytes are on their way up, else nil.
  public var uploadProgress: Double?

  public init(name: String, detail: String, uploadProgress: Double? = nil) {
    self.name = name
    self.detail = detail
    self.uploadProgress = uploadProgress
  }
}

/// Sound: a voice message or music. Without `ActionSet.play` it is shown as a file.
public struct AudioBody: Sendable {
  public var name: String
  public var detail: String
  /// For a host that plays by it; the component loads nothing.
  public var source: String?
  /// 0 where unknown.
  public var durationMilliseconds: Int64
  /// Loudness over time, each 0...255; empty draws a plain line. Any number: the row shows `AudioBody.barCount` of them.
  public var waveform: [UInt8]
  public var isVoice: Bool
  public var uploadProgress: Double?

  public static let barCount = 48

  public init(
    name: String, detail: String = "", source: String? = nil, durationMilliseconds: Int64 = 0, waveform: [UInt8] = [],
    isVoice: Bool = false, uploadProgress: Double? = nil
  ) {
    self.name = name
    self.detail = detail
    self.source = source
    self.durationMilliseconds = durationMilliseconds
    self.waveform = waveform
    self.isVoice = isVoice
    self.uploadProgress = uploadProgress
  }

  /// The waveform as `barCount` bars, each the loudest of what it stands for.
  var bars: [UInt8] {
    guard !waveform.isEmpty else { return [UInt8](repeating: 0, count: AudioBody.barCount) }
    var bars: [UInt8] = []
    for bar in 0..<AudioBody.barCount {
      let first = bar * waveform.count / AudioBody.barCount
      let end = max(first + 1, (bar + 1) * waveform.count / AudioBody.barCount)
      var loudest: UInt8 = 0
      for index in first..<min(end, waveform.count) { loudest = max(loudest, waveform[index]) }
      bars.append(loudest)
    }
    return bars
  }
}

/// Where the playing of a sound stands; the host plays, the row shows.
public struct Playback: Equatable, Sendable {
  public var isPlaying: Bool
  public var positionMilliseconds: Int64
  public var durationMilliseconds: Int64
  /// 1 is the natural speed.
  public var rate: Double
  /// 0...1 of the sound while it is still on its way, once that is worth telling; nil else.
  public var fetched: Double?

  public init(isPlaying: Bool, positionMilliseconds: Int64, durationMilliseconds: Int64, rate: Double = 1) {
    self.isPlaying = isPlaying
    self.positionMilliseconds = positionMilliseconds
    self.durationMilliseconds = durationMilliseconds
    self.rate = rate
  }

  /// 0...1
  var fraction: Double {
    guard durationMilliseconds > 0, positionMilliseconds > 0 else { return 0 }
    return min(1, Double(positionMilliseconds) / Double(durationMilliseconds))
  }
}
