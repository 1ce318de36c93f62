import JSON
import MatrixModel
import Recording

/// What `manifest.json` beside the files of a recording says: which file is of which stream, and when it begins.
struct RecordingManifest: Sendable, Equatable {
  /// A stream and its publisher.
  struct Stream: Sendable, Equatable {
    let id: ByteString
    let connection: ByteString
    let connectionData: ByteString
    let name: ByteString
    let videoType: ByteString
  }

  struct File: Sendable, Equatable {
    let name: String
    let stream: Stream
    /// Since the recording's beginning.
    let startMilliseconds: Int64
    var durationMilliseconds: Int64 = 0
    var bytes: Int64 = 0
    /// `opus`; nil where there is no sound.
    var audio: String?
    /// `vp8`, `vp9`, `h264`; nil where there is no picture.
    var video: String?
    var width = 0
    var height = 0
  }

  /// What changed about the picture of all.
  struct Change: Sendable, Equatable {
    /// Since the recording's beginning.
    let milliseconds: Int64
    let what: RecordingChange
  }

  var files: [File] = []
  /// In the order of time.
  var changes: [Change] = []
  /// The file that was composed of the others afterwards; nil if there is none.
  var composed: File?

  /// When the last of its files ends.
  var durationMilliseconds: Int64 { files.map { $0.startMilliseconds + $0.durationMilliseconds }.max() ?? 0 }
  var bytes: Int64 { (files + [composed].compactMap(\.self)).reduce(0) { $0 + $1.bytes } }

  /// The file that stands for the recording.
  static let fileName = "manifest.json"
  var mainFile: String { composed?.name ?? (files.count == 1 ? files[0].name : Self.fileName) }

  // MARK: JSON

  func json(of id: RecordingID) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("id", id)
      writer.member("duration_ms", durationMilliseconds)
      writer.array("files", files) { $0.write(to: &$1) }
      if !changes.isEmpty { writer.array("changes", changes) { $0.write(to: &$1) } }
      if let composed {
        writer.key("composed")
        composed.write(to: &writer)
      }
    }
    return writer.bytes
  }

  init() {}

  /// Returns nil if the bytes are not a valid manifest.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSON.parse(bytes), let list = json["files"], list.isArray else { return nil }
    for element in list.elements {
      guard let file = File(element) else { return nil }
      files.append(file)
    }
    composed = json["composed"].flatMap { File($0) }
    changes = json["changes"]?.elements.compactMap { Change($0) } ?? []
  }
}

extension RecordingManifest.File {
  init(_ name: String, of stream: RecordingManifest.Stream, _ part: StreamPart) {
    self.init(name: name, stream: stream, startMilliseconds: part.startMilliseconds)
    (durationMilliseconds, bytes) = (part.durationMilliseconds, part.bytes)
    for track in part.tracks {
      switch track {
      case .opus: audio = "opus"
      case .vp8(let width, let height): (video, self.width, self.height) = ("vp8", width, height)
      case .vp9(let width, let height): (video, self.width, self.height) = ("vp9", width, height)
      case .h264(let width, let height, _): (video, self.width, self.height) = ("h264", width, height)
      }
    }
  }

  fileprivate init?(_ json: JSON) {
    guard let name = json["name"]?.string, let start = json["start_ms"]?.integer else { return nil }
    self.init(
      name: name,
      stream: RecordingManifest.Stream(
        id: json["stream"]?.text ?? "", connection: json["connection"]?.text ?? "",
        connectionData: json["connection_data"]?.text ?? "", name: json["stream_name"]?.text ?? "",
        videoType: json["video_type"]?.text ?? ""), startMilliseconds: start)
    durationMilliseconds = json["duration_ms"]?.integer ?? 0
    bytes = json["size"]?.integer ?? 0
    (audio, video) = (json["audio"]?.string, json["video"]?.string)
    (width, height) = (Int(json["width"]?.integer ?? 0), Int(json["height"]?.integer ?? 0))
  }

  func write(to writer: inout JSONWriter) { writer.object { writeMembers(to: &$0) } }

  func writeMembers(to writer: inout JSONWriter) {
    writer.member("name", name)
    writer.member("stream", stream.id)
    writer.member("connection", stream.connection)
    writer.member("connection_data", stream.connectionData)
    writer.member("stream_name", stream.name)
    writer.member("video_type", stream.videoType)
    writer.member("start_ms", startMilliseconds)
    writer.member("duration_ms", durationMilliseconds)
    writer.member("size", bytes)
    if let audio { writer.member("audio", audio) }
    if let video {
      writer.member("video", video)
      writer.member("width", width)
      writer.member("height", height)
    }
  }
}

extension RecordingManifest.Change {
  fileprivate init?(_ json: JSON) {
    guard let milliseconds = json["at_ms"]?.integer else { return nil }
    if let layout = json["layout"] {
      guard let layout = try? RecordingLayout(layout) else { return nil }
      self.init(milliseconds: milliseconds, what: .layout(layout))
    } else {
      guard let stream = StreamID(json["stream"]), let classes = json["classes"] else { return nil }
      self.init(milliseconds: milliseconds, what: .classes(stream, classes.elements.compactMap(\.text)))
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("at_ms", milliseconds)
      switch what {
      case .layout(let layout):
        writer.key("layout")
        layout.write(to: &writer)
      case .classes(let stream, let classes):
        writer.member("stream", stream)
        writer.array("classes", classes) { $1.write($0) }
      }
    }
  }
}
