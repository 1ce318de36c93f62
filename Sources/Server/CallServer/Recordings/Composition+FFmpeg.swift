import Recording

/// What FFmpeg is told, in the recording's folder.
extension Composition {
  static let framesPerSecond = 25
  /// Its graph of filters: an argument has no room for that of a long recording.
  static let graphName = "graph.txt"

  static func nameFile(_ span: Int) -> String { "name-\(span).txt" }

  /// What it does is told on its output.
  ///
  /// - Parameter bytesLimit: of what is made; nil for none.
  func arguments(bytesLimit: Int64?) -> [String] {
    var arguments = Self.start + ["-y", "-progress", "pipe:1"]
    // A picture that changes its size must not begin the graph anew, and with it the time of all.
    for file in files { arguments += ["-reinit_filter", "0"] + Self.input(file) }
    arguments += ["-filter_complex_script", Self.graphName]
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
  static func probe(_ file: RecordingManifest.File) -> [String] {
    start + input(file) + ["-map", "0:v:0", "-frames:v", "1", "-f", "null", "-"]
  }

  /// What cannot be decoded is left out, however much it is.
  private static let start = ["-nostdin", "-hide_banner", "-v", "error", "-max_error_rate", "1"]

  /// Options before an input are that input's alone.
  private static func input(_ file: RecordingManifest.File) -> [String] {
    let limits = ["-protocol_whitelist", "file,pipe", "-threads", "1", "-max_pixels", "\(FrameAssembler.picturePixelsLimit)"]
    // Pictures of several layers are read rightly by this one alone.
    return limits + ["-f", "matroska"] + (file.video == "vp9" ? ["-c:v", "libvpx-vp9"] : []) + ["-i", file.name]
  }

  // MARK: The graph

  /// - Parameter hasNames: the files of `nameFile` are there, and a font.
  func graph(hasNames: Bool) -> String {
    ((hasVideo ? picture(hasNames: hasNames) : []) + (hasAudio ? sound : [])).joined(separator: ";")
  }

  private func picture(hasNames: Bool) -> [String] {
    let size = "\(options.width)x\(options.height)"
    var chain = ["color=c=black:s=\(size):r=\(Self.framesPerSecond):d=\(Self.seconds(durationMilliseconds))[under0]"]
    var count = 0
    for isAbove in [false, true] {
      for (i, file) in files.enumerated() where file.video != nil {
        let places = (span(of: file)?.places ?? []).filter { $0.cell.isAbove == isAbove }
        guard !places.isEmpty else { continue }
        chain.append("[\(i):v]\(Self.scaled(file, places))[over\(count)]")
        chain.append("[under\(count)][over\(count)]\(Self.overlaid(places))[under\(count + 1)]")
        count += 1
      }
    }
    let names = hasNames ? spans.indices.filter { !spans[$0].name.isEmpty && !spans[$0].places.isEmpty }.map(drawnName) : []
    return chain + ["[under\(count)]" + (names + ["format=yuv420p[picture]"]).joined(separator: ",")]
  }

  /// As large as it fits into the cell of the moment, with pixels as the overlay takes them: whatever converted them in between would bring the first
  /// size back.
  private static func scaled(_ file: RecordingManifest.File, _ places: [Place]) -> String {
    let (width, height) = (steps(places) { $0.width }, steps(places) { $0.height })
    return "fps=\(framesPerSecond),setpts=PTS+\(seconds(file.startMilliseconds))/TB,"
      + "scale=w='max(2,trunc(min(\(width),(\(height))*a)/2)*2)':h='max(2,trunc(min(\(height),(\(width))/a)/2)*2)':eval=frame,"
      + "setsar=1,format=yuva420p"
  }

  /// In the middle of the cell.
  private static func overlaid(_ places: [Place]) -> String {
    let (x, y) = (steps(places) { 2 * $0.x + $0.width }, steps(places) { 2 * $0.y + $0.height })
    return "overlay=x='(\(x)-w)/2':y='(\(y)-h)/2':eof_action=pass:enable='\(shown(places))'"
  }

  private func drawnName(_ index: Int) -> String {
    let places = spans[index].places
    let (x, bottom) = (Self.steps(places) { $0.x + 8 }, Self.steps(places) { $0.y + $0.height - 10 })
    return "drawtext=textfile=\(Self.nameFile(index)):expansion=none:fontcolor=white:box=1:boxcolor=black@0.5:boxborderw=4:"
      + "fontsize='\(Self.steps(places) { max(12, $0.height / 16) })':x='\(x)':y='\(bottom)-th':enable='\(Self.shown(places))'"
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

  // MARK: Expressions

  /// A value over the time `t`: that of each place from its beginning on. A sum, for what is nested has a limited depth.
  private static func steps(_ places: [Place], _ value: (RecordingLayout.Cell) -> Int64) -> String {
    var text = "\(value(places[0].cell))"
    for (before, after) in zip(places, places.dropFirst()) where value(before.cell) != value(after.cell) {
      text += "+(\(value(after.cell) - value(before.cell)))*gte(t,\(seconds(after.start)))"
    }
    return text
  }

  /// Whether it stands anywhere at the time `t`.
  private static func shown(_ places: [Place]) -> String {
    var times: [(start: Int64, end: Int64)] = []
    for place in places {
      if times.last?.end == place.start {
        times[times.count - 1].end = place.end
      } else {
        times.append((place.start, place.end))
      }
    }
    return times.map { "gte(t,\(seconds($0.start)))*lt(t,\(seconds($0.end)))" }.joined(separator: "+")
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    let rest = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}
