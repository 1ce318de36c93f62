import AdministrationCore
import AdministrationScreens
import ClientCore
import MatrixModel
import Messenger
import PageWidgets

extension App {
  /// What the screens for administrators get to see of this page.
  var administrationContext: AdministrationContext<D> {
    AdministrationContext(
      dom, user: userID, ask: { [self] in ask($0, $1) },
      goTo: { [self] in goTo($0.map { .administration($0) } ?? .list) },
      openDialog: { [self] in dialogs.open($0) }, closeDialogs: { [self] in dialogs.closeAll() },
      say: { [self] in notices.show($0) }, avatarSource: { [self] in avatarSource($0) })
  }
}
