import JSON
import Recording

/// How one picture is made of the files of a recording: a grid in which each stream has a cell while it lasts, and its name in it.
struct Composition: Equatable {
  /// A place in the picture, in pixels.
  struct Cell: Equatable {
    let x: Int64
    let y: Int64
    let width: Int64
    let height: Int64
  }

  /// From a stream's first file to its last one's end, in milliseconds.
  struct Span: Equatable {
    let stream: ByteString
    let name: String
    var start: Int64
    var end: Int64
    var place = 0
  }

  static let fileName = "composed.mp4"
  /// While it is made.
  static let unfinishedName = "composed.new"
  static let framesPerSecond = 25
  static let nameCharacters = 60
  /// More would need more memory and open files than one recording may take.
  static let filesLimit = 200

  let options: ArchiveOptions
  let files: [ArchiveManifest.File]
  private(set) var spans: [Span] = []
  private(set) var columns: Int64 = 1
  private(set) var rows: Int64 = 1
  let durationMilliseconds: Int64

  init(_ manifest: ArchiveManifest, _ options: ArchiveOptions) {
    self.options = options
    files = Array(manifest.files.prefix(Self.filesLimit))
    durationMilliseconds = manifest.durationMilliseconds
    for file in files {
      let end = file.startMilliseconds + file.durationMilliseconds
      if let known = spans.firstIndex(where: { $0.stream == file.stream.id }) {
        (spans[known].start, spans[known].end) = (min(spans[known].start, file.startMilliseconds), max(spans[known].end, end))
      } else {
        spans.append(Span(stream: file.stream.id, name: Self.name(file.stream), start: file.startMilliseconds, end: end))
      }
    }
    givePlaces()
  }

  var hasVideo: Bool { options.hasVideo && files.contains { $0.video != nil } }
  var hasAudio: Bool { files.contains { $0.audio != nil } }

  /// Each takes the first place that nobody has at the time.
  private mutating func givePlaces() {
    spans.sort { ($0.start, $0.stream) < ($1.start, $1.stream) }
    var free: [Int64] = []
    for i in spans.indices {
      let place = free.firstIndex { $0 <= spans[i].start } ?? free.count
      if place == free.count { free.append(0) }
      free[place] = spans[i].end
      spans[i].place = place
    }
    while columns * columns < free.count { columns += 1 }
    rows = max(1, (Int64(free.count) + columns - 1) / columns)
  }

  func cell(_ place: Int) -> Cell {
    // Codecs want even numbers.
    let (width, height) = (options.width / columns / 2 * 2, options.height / rows / 2 * 2)
    return Cell(x: Int64(place) % columns * width, y: Int64(place) / columns * height, width: width, height: height)
  }

  /// One line, of what the stream is called or its connection says of itself.
  private static func name(_ stream: ArchiveManifest.Stream) -> String {
    let text = stream.name.isEmpty ? stream.connectionData : stream.name
    let plain = text.string.unicodeScalars.prefix(nameCharacters).map { $0.properties.generalCategory == .control ? " " : $0 }
    return String(String.UnicodeScalarView(plain))
  }

  static func nameFile(_ span: Int) -> String { "name-\(span).txt" }

  // MARK: FFmpeg

  /// The arguments of FFmpeg in the recording's folder. What it does is told on its output.
  ///
  /// - Parameters:
  ///   - hasNames: the files of `nameFile` are there, and a font.
  ///   - bytesLimit: of what is made; nil for none.
  func arguments(hasNames: Bool, bytesLimit: Int64?) -> [String] {
    var arguments = Self.start + ["-y", "-progress", "pipe:1"]
    // A picture that changes its size must not begin the graph anew, and with it the time of all.
    for file in files { arguments += ["-reinit_filter", "0"] + Self.input(file) }
    arguments += ["-filter_complex", graph(hasNames: hasNames)]
    if hasVideo {
      arguments += ["-map", "[picture]", "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"]
    }
    if hasAudio { arguments += ["-map", "[sound]", "-c:a", "aac", "-b:a", "128k"] }
    if let bytesLimit { arguments += ["-fs", "\(bytesLimit)"] }
    return arguments + [
      "-t", Self.seconds(durationMilliseconds), "-threads", "1", "-movflags", "+faststart", "-f", "mp4", Self.unfinishedName
    ]
  }

  /// The arguments with which FFmpeg tells by its exit whether it can make a picture of a file.
  static func probe(_ file: ArchiveManifest.File) -> [String] {
    start + input(file) + ["-map", "0:v:0", "-frames:v", "1", "-f", "null", "-"]
  }

  /// What cannot be decoded is left out, however much it is.
  private static let start = ["-nostdin", "-hide_banner", "-v", "error", "-max_error_rate", "1"]

  /// Options before an input are that input's alone.
  private static func input(_ file: ArchiveManifest.File) -> [String] {
    let limits = ["-protocol_whitelist", "file,pipe", "-threads", "1", "-max_pixels", "\(FrameAssembler.picturePixelsLimit)"]
    // Pictures of several layers are read rightly by this one alone.
    return limits + ["-f", "matroska"] + (file.video == "vp9" ? ["-c:v", "libvpx-vp9"] : []) + ["-i", file.name]
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    let rest = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }

  private func graph(hasNames: Bool) -> String {
    ((hasVideo ? picture(hasNames: hasNames) : []) + (hasAudio ? sound : [])).joined(separator: ";")
  }

  private func picture(hasNames: Bool) -> [String] {
    let size = "\(options.width)x\(options.height)"
    let duration = Self.seconds(durationMilliseconds)
    var chain = ["color=c=0x202020:s=\(size):r=\(Self.framesPerSecond):d=\(duration)[under0]"]
    var count = 0
    for (i, file) in files.enumerated() where file.video != nil {
      guard let span = spans.first(where: { $0.stream == file.stream.id }) else { continue }
      let cell = cell(span.place)
      chain.append(
        "[\(i):v]fps=\(Self.framesPerSecond),scale=\(cell.width):\(cell.height):force_original_aspect_ratio=decrease,"
          + "pad=\(cell.width):\(cell.height):-1:-1:color=black:eval=frame,setsar=1,setpts=PTS+\(Self.seconds(file.startMilliseconds))/TB[over\(count)]"
      )
      chain.append("[under\(count)][over\(count)]overlay=x=\(cell.x):y=\(cell.y):eof_action=pass[under\(count + 1)]")
      count += 1
    }
    var last = "[under\(count)]"
    for (i, span) in spans.enumerated() where hasNames && !span.name.isEmpty {
      let cell = cell(span.place)
      last +=
        "drawtext=textfile=\(Self.nameFile(i)):expansion=none:fontcolor=white:fontsize=\(max(12, cell.height / 16)):box=1:"
        + "boxcolor=black@0.5:boxborderw=4:x=\(cell.x + 8):y=\(cell.y + cell.height)-th-10:"
        + "enable='between(t,\(Self.seconds(span.start)),\(Self.seconds(span.end)))',"
    }
    return chain + [last + "format=yuv420p[picture]"]
  }

  private var sound: [String] {
    let heard = files.indices.filter { files[$0].audio != nil }
    // Silence stands where nothing came.
    let each = heard.map { i in
      "[\(i):a]asetpts=PTS+\(Self.seconds(files[i].startMilliseconds))/TB,aresample=48000:async=1:first_pts=0[sound\(i)]"
    }
    let inputs = heard.map { "[sound\($0)]" }.joined()
    return each + ["\(inputs)amix=inputs=\(heard.count):duration=longest:normalize=0,alimiter=limit=0.95[sound]"]
  }
}
