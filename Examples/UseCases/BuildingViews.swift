#if canImport(SwiftUI)
  import MatrixClient
  import SwiftUI

  // ARTICLE
  struct RoomsView: View {
    @State var list: RoomListModel
    var body: some View {
      List(list.sections) { section in
        ForEach(section.rooms, id: \.self) { RoomRow(room: list[$0]) }
      }
      .searchable(text: $list.searchText)
    }
  }
  // ARTICLE

  // ARTICLE
  struct ChatView: View {
    @State var timeline: TimelineModel
    var body: some View {
      List(timeline.items) { item in
        Text("\(timeline.senderName(of: item)): \(item.text ?? "")")
      }
      .task { try? await timeline.loadEarlier() }
    }
  }
  // ARTICLE

  struct RoomRow: View {
    let room: RoomModel
    var body: some View {
      HStack {
        Text(room.name)
        Spacer()
        if room.isUnread { Text("\(room.notificationCount)") }
      }
    }
  }
#endif
