/// Sound, places, polls, previews, contacts.
extension PartBuilder {
  // MARK: Sound

  /// A player where the host plays, else a file.
  func audio(_ audio: AudioBody, _ context: PartContext) -> PartView {
    guard actions.contains(.play) else {
      return file(FileBody(name: audio.name, detail: audio.detail, uploadProgress: audio.uploadProgress))
    }
    let view = PartView(dom.element("div", audio.isVoice ? "mg-audio mg-voice" : "mg-audio"), .audio)
    let play = control(true, "mg-play", in: view.node, view, .play)
    Icon.play.draw(dom, in: play)
    Icon.pause.draw(dom, in: play)
    let middle = dom.element("div", "mg-audio-middle", in: view.node)
    if !audio.isVoice { text(audio.name, "mg-file-name", in: middle) }
    let track = dom.element("div", "mg-track", in: middle)
    wave(audio.bars, "mg-wave", in: track)
    wave(audio.bars, "mg-wave mg-wave-played", in: track)
    let seek = dom.element("input", "mg-seek", in: track)
    for (name, value) in [("type", "range"), ("min", "0"), ("max", "1000")] { dom.setAttribute(seek, name, value) }
    label(seek, options.phrases.seek)
    view.targets.append((seek, .seek))
    let time = dom.element("span", "mg-audio-time", in: middle)
    let rate = control(true, "mg-button mg-rate", in: view.node, view, .rate)
    let (bar, fill) = progress(in: view.node)
    view.nodes = [play, track, seek, time, rate, bar, fill]
    self.fill(view, audio, context.playback)
    return view
  }

  func fill(_ view: PartView, _ audio: AudioBody, _ playback: Playback?) {
    show(playback, in: view, duration: audio.durationMilliseconds)
    setProgress(view.nodes[5], view.nodes[6], audio.uploadProgress)
  }

  /// Where the playing stands; never changes a height.
  func show(_ playback: Playback?, in view: PartView, duration: Int64) {
    let isPlaying = playback?.isPlaying ?? false
    let fraction = playback?.fraction ?? 0
    let position = playback?.positionMilliseconds ?? 0
    dom.setClass(view.nodes[0], isPlaying ? "mg-play mg-playing" : "mg-play")
    label(view.nodes[0], isPlaying ? options.phrases.pause : options.phrases.play)
    dom.setVariable(view.nodes[1], "--mg-played", fraction)
    dom.setValue(view.nodes[2], "\(Int(fraction * 1000))")
    let length = ClockText.minutes(max(duration, playback?.durationMilliseconds ?? 0))
    let whole = length.utf8.isEmpty ? "–:––" : length
    let played = ClockText.minutes(position)
    if let part = playback?.fetched {
      dom.setText(view.nodes[3], "\(Int(part * 100)) %")
    } else {
      dom.setText(view.nodes[3], playback == nil ? whole : (played.utf8.isEmpty ? "0:00" : played) + " / " + whole)
    }
    let rate = playback?.rate ?? 1
    let speed = rate == 1 ? "1×" : rate == 1.5 ? "1.5×" : "2×"
    dom.setText(view.nodes[4], speed)
    label(view.nodes[4], options.phrases.playbackRate + " " + speed)
  }

  private func wave(_ bars: [UInt8], _ classes: String, in parent: Node) {
    let svg = dom.element("svg:svg", classes, in: parent)
    dom.setAttribute(svg, "viewBox", "0 0 \(bars.count * 4) 64")
    dom.setAttribute(svg, "preserveAspectRatio", "none")
    dom.setAttribute(svg, "aria-hidden", "true")
    var path = ""
    for (index, bar) in bars.enumerated() {
      let half = 2 + Int(bar) * 28 / 255
      path += "M\(index * 4 + 2) \(32 - half)v\(half * 2)"
    }
    dom.setAttribute(dom.element("svg:path", in: svg), "d", path)
  }

  // MARK: Places

  func location(_ location: LocationBody) -> PartView {
    let view = PartView(dom.element("div", "mg-file mg-location"), .location)
    let open = control(actions.contains(.openLocation), "mg-file-box", in: view.node, view, .location)
    Icon.place.draw(
      dom, in: dom.element("span", location.isLive ? "mg-file-icon mg-live" : "mg-file-icon", in: open))
    let lines = dom.element("span", "mg-file-lines", in: open)
    let name = location.name.utf8.isEmpty ? options.phrases.location : location.name
    text(name, "mg-file-name", in: lines)
    text(location.isLive ? options.phrases.liveLocation : "", "mg-file-detail", in: lines)
    text(location.detail, "mg-file-detail", in: lines)
    return view
  }

  // MARK: Polls

  func poll(_ poll: PollBody) -> PartView {
    let view = PartView(dom.element("div", "mg-poll"), .poll)
    dom.setAttribute(view.node, "role", "group")
    label(view.node, poll.question)
    text(poll.question, "mg-poll-question", "div", in: view.node)
    let isOpen = !poll.isEnded && actions.contains(.vote)
    for (index, answer) in poll.answers.prefix(PollBody.answersLimit).enumerated() {
      let classes = answer.isOwn ? "mg-answer mg-chosen" : "mg-answer"
      let node = control(isOpen, classes, in: view.node, view, .vote(answer: index))
      if isOpen { dom.setAttribute(node, "aria-pressed", answer.isOwn ? "true" : "false") }
      text(answer.text, "mg-answer-text", in: node)
      if let votes = answer.votes {
        text(options.phrases.votes(votes), "mg-answer-votes", in: node)
        let bar = dom.element("span", "mg-answer-bar", in: node)
        dom.setVariable(bar, "--mg-share", poll.voterCount > 0 ? min(1, Double(votes) / Double(poll.voterCount)) : 0)
      }
    }
    let phrases = options.phrases
    text(
      poll.isEnded ? phrases.pollEnded(poll.voterCount) : phrases.pollVoters(poll.voterCount), "mg-poll-note", "div",
      in: view.node)
    return view
  }

  // MARK: Previews

  func preview(_ preview: LinkPreview, _ context: PartContext) -> PartView {
    let isSafe = LinkScanner.isSafe(preview.url)
    let node = isSafe ? dom.element("a") : dom.element("div")
    dom.setClass(node, "mg-preview")
    let view = PartView(node, .preview)
    if isSafe {
      dom.setAttribute(node, "href", preview.url)
      dom.setAttribute(node, "target", "_blank")
      dom.setAttribute(node, "rel", "noopener noreferrer")
      view.targets.append((node, .link(preview.url)))
    }
    text(preview.site, "mg-preview-site", in: node)
    text(preview.title, "mg-preview-title", in: node)
    text(preview.text, "mg-preview-text", in: node)
    if let image = preview.picture {
      let picture = picture(image, .sticker, context)
      dom.append(picture.node, to: node)
    }
    return view
  }

  // MARK: Contacts

  func contact(_ contact: ContactBody) -> PartView {
    let view = PartView(dom.element("div", "mg-preview"), .contact)
    dom.setAttribute(view.node, "role", "group")
    label(view.node, contact.name)
    text(contact.name, "mg-preview-title", in: view.node)
    text(contact.organisation, "mg-preview-site", in: view.node)
    for line in contact.lines {
      addSegment(line, in: dom.element("div", in: view.node)) { view.targets.append(($0, .link(line.url))) }
    }
    return view
  }
}
