import Messenger
import PageWidgets
import WebHost

/// What the camera sees, and the picture that is taken of it, before it goes the way of any file.
final class CameraDialog<D: DOM> {
  private var camera: Recorder?
  private var picture: PickedFile?
  /// It takes a picture, or begins anew: what one clicks meanwhile is of what was there before.
  private var isBusy = false

  @discardableResult
  init(_ dom: D, in frame: DialogFrame<D>, _ then: @escaping (PickedFile) -> Void) {
    frame.setTitle(.takePicture)
    let video = dom.element("video", "ma-camera", in: frame.body)
    dom.setFlag(video, "playsinline", true)
    dom.setLabel(video, .groupCallCamera)
    let asks = dom.element("p", "ma-note ma-asks", text: .askCamera, in: frame.body)
    let trouble = frame.trouble(in: frame.body)
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let again = dom.button("ma-button", .takeAgain, in: buttons)
    let take = dom.button("ma-button ma-primary", .takePicture, in: buttons)
    let use = dom.button("ma-button ma-primary", .use, in: buttons)
    let show = { [self] (isReady: Bool) in
      dom.setFlag(take, "disabled", !isReady)
      dom.setFlag(take, "hidden", picture != nil)
      for button in [again, use] { dom.setFlag(button, "hidden", picture == nil) }
    }
    show(false)
    camera = Recorder(of: video) { [self] event in
      guard frame.isOpen else { return }
      isBusy = false
      dom.setFlag(asks, "hidden", true)
      switch event {
      case .level:
        picture = nil
        show(true)
        dom.focus(take)
      case .done(let file, _):
        picture = file
        show(true)
        dom.focus(use)
      case .refused, .failed:
        dom.setFlag(video, "hidden", true)
        dom.setText(trouble, event.isRefused ? .cameraRefused : .cameraMissing)
      }
      dom.flush()
    }
    for button in [take, again] {
      dom.on(button, .click) { [self] _ in
        guard !isBusy else { return }
        isBusy = true
        camera?.finish()
      }
    }
    dom.on(use, .click) { [self] _ in
      guard let picture else { return }
      frame.close()
      then(picture)
    }
    frame.onEnd = { [self] in
      camera = nil
      picture = nil
    }
  }
}
