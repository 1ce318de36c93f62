import WebHost

/// What the view says. The words are in the page's texts (`Web/texts.LANGUAGE.txt`), under these names.
enum Word: String, CaseIterable {
  case join, callConnects, callInterrupted, callEnd, callBack, callOver, callBroken, callLost, callNoMedia, callNoCamera,
    callNotSent
  case callOf, callsYou, callsYouWithCamera, callRings, callAnswer, callAnswerWithCamera, callDecline, callDeclined,
    callUnanswered, callElsewhere, callBusy, callHangUpAndAnswer, theirMicrophoneOff
  case microphoneOff, microphoneOn, cameraOff, cameraOn, cameraTurn, shareScreen, stopSharing, ownPicture, pictureOf,
    pictureInPicture, callHeight
  case groupCallHere, groupCallRings, notNow
  case groupCallIn, groupCallPeople, groupCallGrid, groupCallSpeaker, groupCallDevices, groupCallCamera,
    groupCallMicrophone, groupCallLoudspeaker, groupCallNotHere, groupCallHear, groupCallMute, groupCallRemove,
    groupCallRecorded, groupCallMuted, groupCallRemoved, groupCallGone, groupCallFull, groupCallNoCamera,
    groupCallMicrophoneIsOff, groupCallScreenOf, groupCallSealed, groupCallCannotSeal, groupCallNowSealed, groupCallKeysLost,
    groupCallLocked

  private static let table = StringTable(Host.texts, isRightToLeft: Host.pageState.contains(.rightToLeft))
  private static let numbers = allCases.map { table.number(of: $0.rawValue) ?? -1 }

  var text: String { words(0, []) }
  func text(_ arguments: String...) -> String { words(0, arguments) }
  func text(count: Int) -> String { words(Host.pluralForm(of: count), ["\(count)"]) }

  private func words(_ form: Int, _ arguments: [String]) -> String {
    // Without a page there are no words: tests see the names.
    if Self.table.count == 0 { return arguments.reduce(rawValue) { $0 + " " + $1 } }
    for (word, number) in zip(Self.allCases, Self.numbers) where word == self {
      return Self.table.words(number, form: form, arguments)
    }
    return ""
  }
}
