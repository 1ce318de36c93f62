import Messenger

/// A sound that is played; it ends when the last reference to it is gone.
public final class Player {
  public enum Event {
    /// How much of it is here, of 1, where that takes long.
    case fetching(Double)
    /// Where it stands, in milliseconds; a length of 0 is not known yet.
    case moved(isPlaying: Bool, positionMilliseconds: Int64, durationMilliseconds: Int64)
    /// It cannot be fetched or played.
    case failed
  }

  private let handle: JSHandle

  /// Fetches (with the images' token where it applies) and begins to play.
  public init(url: String, _ onEvent: @escaping (Event) -> Void) {
    let id = register { event in
      if event.code == 3 { return onEvent(.fetching(event.x)) }
      guard event.code != 2 else { return onEvent(.failed) }
      onEvent(
        .moved(isPlaying: event.code == 1, positionMilliseconds: Int64(event.x), durationMilliseconds: Int64(event.y)))
    }
    handle = JSHandle(id: id)
    hostPlay(id, url)
  }

  public func play() { hostPlayerPlay(handle.id) }
  public func pause() { hostPlayerPause(handle.id) }
  /// - Parameter fraction: 0...1 of its length.
  public func seek(to fraction: Double) { hostPlayerSeek(handle.id, fraction) }
  public func setRate(_ rate: Double) { hostPlayerSetRate(handle.id, rate) }
}
