import JSON
import Recording

/// Who stands where in the one picture that is made of the files of a recording, from when to when.
struct Composition: Equatable {
  /// A place of a stream, while nothing changes about it. In milliseconds.
  struct Place: Equatable {
    let start: Int64
    var end: Int64
    let cell: RecordingLayout.Cell
  }

  /// The time from the start of a stream's first file to the end of its last, in milliseconds.
  struct Span: Equatable {
    let stream: ByteString
    let name: String
    let isScreen: Bool
    var start: Int64
    var end: Int64
    /// In the order of time; none while it is not shown.
    var places: [Place] = []
  }

  static let fileName = "composed.mp4"
  /// While it is made.
  static let unfinishedName = "composed.new"
  static let nameCharacters = 60
  /// More would need more memory and open files than one recording may take.
  static let filesLimit = 200

  let options: RecordingOptions
  let files: [RecordingManifest.File]
  private(set) var spans: [Span] = []
  let durationMilliseconds: Int64

  init(_ manifest: RecordingManifest, _ options: RecordingOptions) {
    self.options = options
    files = Array(manifest.files.prefix(Self.filesLimit))
    durationMilliseconds = manifest.durationMilliseconds
    for file in files {
      let end = file.startMilliseconds + file.durationMilliseconds
      if let known = spans.firstIndex(where: { $0.stream == file.stream.id }) {
        (spans[known].start, spans[known].end) = (min(spans[known].start, file.startMilliseconds), max(spans[known].end, end))
      } else {
        spans.append(
          Span(
            stream: file.stream.id, name: Self.name(file.stream), isScreen: file.stream.videoType == Self.screen,
            start: file.startMilliseconds, end: end))
      }
    }
    spans.sort { ($0.start, $0.stream) < ($1.start, $1.stream) }
    givePlaces(manifest.changes)
  }

  var hasVideo: Bool { options.hasVideo && files.contains { $0.video != nil } }
  var hasAudio: Bool { files.contains { $0.audio != nil } }

  func span(of file: RecordingManifest.File) -> Span? { spans.first { $0.stream == file.stream.id } }

  private static let screen = ByteString(StreamDescription.VideoType.screen.rawValue)

  /// From each moment at which something changes to the next one.
  private mutating func givePlaces(_ changes: [RecordingManifest.Change]) {
    let moments = Set(spans.flatMap { [$0.start, $0.end] } + changes.map(\.milliseconds)).sorted()
    var rest = changes[...]
    var layout = RecordingLayout()
    var classes: [ByteString: [ByteString]] = [:]
    for (start, end) in zip(moments, moments.dropFirst()) {
      while let change = rest.first, change.milliseconds <= start {
        switch change.what {
        case .layout(let changed): layout = changed
        case .classes(let stream, let changed): classes[stream.text] = changed
        }
        rest.removeFirst()
      }
      let present = spans.indices.filter { spans[$0].start <= start && spans[$0].end > start }
      let members = present.map {
        RecordingLayout.Member(classes: classes[spans[$0].stream] ?? [], isScreen: spans[$0].isScreen)
      }
      let cells = layout.cells(of: members, in: RecordingLayout.Size(width: options.width, height: options.height))
      for (i, cell) in zip(present, cells) {
        if let cell { spans[i].stand(in: cell, from: start, to: end) }
      }
    }
  }

  /// One line, of what the stream is called or its connection says of itself.
  private static func name(_ stream: RecordingManifest.Stream) -> String {
    let text = stream.name.isEmpty ? stream.connectionData : stream.name
    let plain = text.string.unicodeScalars.prefix(nameCharacters).map { $0.properties.generalCategory == .control ? " " : $0 }
    return String(String.UnicodeScalarView(plain))
  }
}

extension Composition.Span {
  fileprivate mutating func stand(in cell: RecordingLayout.Cell, from start: Int64, to end: Int64) {
    if let last = places.last, last.cell == cell, last.end == start {
      places[places.count - 1].end = end
    } else {
      places.append(Composition.Place(start: start, end: end, cell: cell))
    }
  }
}
