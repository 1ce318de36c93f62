import Messenger

/// Plays the sounds of a timeline's rows, one at a time, and lets the row show where it stands.
public final class RowSound<D: DOM> {
  private let timeline: Timeline<D>
  private let onFailed: () -> Void
  private var playing: (row: RowID, part: Int, player: Player, state: Playback)?

  public init(_ timeline: Timeline<D>, onFailed: @escaping () -> Void) {
    self.timeline = timeline
    self.onFailed = onFailed
  }

  public func stop() { playing = nil }

  private func isPlaying(_ row: RowID, _ part: Int) -> Bool { playing?.row == row && playing?.part == part }

  /// Begins, pauses or goes on. Does nothing where there is no source.
  public func play(_ row: RowID, _ part: Int, from source: () -> String?) {
    if let playing, isPlaying(row, part) {
      return playing.state.isPlaying ? playing.player.pause() : playing.player.play()
    }
    guard let source = source() else { return }
    timeline.setPlayback(row, part: part, nil)
    let player = Player(url: source) { [self] event in heard(event, row, part) }
    playing = (row, part, player, Playback(isPlaying: true, positionMilliseconds: 0, durationMilliseconds: 0))
  }

  private func heard(_ event: Player.Event, _ row: RowID, _ part: Int) {
    guard isPlaying(row, part) else { return }
    switch event {
    case .failed:
      playing = nil
      timeline.setPlayback(row, part: part, nil)
      onFailed()
    case .fetching(let fetched):
      playing?.state.fetched = fetched
      timeline.setPlayback(row, part: part, playing?.state)
    case .moved(let isPlaying, let position, let duration):
      playing?.state.fetched = nil
      playing?.state.isPlaying = isPlaying
      playing?.state.positionMilliseconds = position
      playing?.state.durationMilliseconds = duration
      timeline.setPlayback(row, part: part, playing?.state)
    }
    timeline.dom.flush()
  }

  /// - Parameter fraction: 0...1 of its length.
  public func seek(_ row: RowID, _ part: Int, _ fraction: Double, from source: () -> String?) {
    if !isPlaying(row, part) { play(row, part, from: source) }
    playing?.player.seek(to: fraction)
  }

  /// The next of three speeds.
  public func changeRate(_ row: RowID, _ part: Int) {
    guard isPlaying(row, part), var state = playing?.state else { return }
    state.rate = state.rate == 1 ? 1.5 : state.rate == 1.5 ? 2 : 1
    playing?.state = state
    playing?.player.setRate(state.rate)
    timeline.setPlayback(row, part: part, state)
  }
}
