import Messenger

/// Every text the program says, in one table. The messenger's own are `Phrases`.
enum Strings {
  static let product = "Martlet"
  static func device(_ browser: String) -> String { "Martlet in " + browser }

  // MARK: Tabs
  static let openElsewhere = "Martlet is open in another tab of this browser. One tab at a time keeps your messages in step."
  static let takenOver = "You went on in another tab."
  static let useHere = "Use it in this tab"

  // MARK: Signing in
  static let welcome = "Welcome to Martlet"
  static let welcomeNote = "Chat on a server of your own."
  static let signIn = "Sign in"
  static let createAccount = "Create account"
  static let signingIn = "Signing in…"
  static let creatingAccount = "Creating your account…"
  static let signInAgain = "Your session has ended. Sign in again to go on: your messages and drafts are still here."
  static let userName = "User name"
  static let userNameHint = "For example alice, or @alice:example.org"
  static let newUserNameHint = "Small letters, digits and . _ = - / +"
  static let password = "Password"
  static let newPasswordHint = "At least 8 characters"
  static let showPassword = "Show password"
  static let hidePassword = "Hide password"
  static let token = "Registration token"
  static let tokenHint = "This server gives accounts to people with a token. Ask whoever runs it for one."
  static func serverIs(_ name: String) -> String { "Server: " + name }
  static let change = "Change"
  static let serverAddress = "Server address"
  static let serverAddressHint = "For example example.org"
  static let use = "Use"
  static let checkingServer = "Looking for the server…"
  static let serverUnreachable = "No Matrix server answers there. Check the address and your connection."
  static let serverAddressWrong = "This is not an address. Write it like example.org."
  static let registrationClosed = "This server does not give out new accounts. Ask whoever runs it to make one for you."
  static let registrationUnsupported = "This server wants a way of registering that Martlet does not have."
  static let passwordLoginUnsupported = "This server does not let people sign in with a password."
  static let userNameMissing = "Write your user name."
  static let userNameWrong = "A user name has only small letters, digits and . _ = - / +"
  static let passwordMissing = "Write your password."
  static let passwordShort = "A password needs at least 8 characters."
  static let tokenMissing = "Write the registration token."
  static let tokenWrong = "The registration token is wrong or used up."

  // MARK: Connection
  static let offline = "You are offline. What you write is sent when the connection is back."
  static let noAnswer = "The server does not answer."
  static func nextTry(_ seconds: Int) -> String { seconds > 0 ? "Trying again in \(seconds) s." : "Trying again…" }
  static let connecting = "Connecting…"
  static let storeFailed = "This browser does not let Martlet keep anything: after a reload you may have to sign in again."

  // MARK: Rooms
  static let conversations = "Conversations"
  static let newConversation = "New conversation"
  static let filter = "Search conversations"
  static let noMatch = "No conversation has that name."
  static let noRooms = "No conversations yet"
  static let noRoomsNote = "Write to someone, make a room for several people, or join one that is there."
  static let loadingRooms = "Getting your conversations…"
  static let pickRoom = "Pick a conversation"
  static let pickRoomNote = "Choose one on the left, or start a new one."
  static let profile = "Your profile"
  static let invitation = "Invitation"
  static let draft = "Draft: "
  static let noMessages = "No messages yet"
  static let typingShort = "is typing…"
  static let severalTyping = "Several people are typing…"
  static func you(_ text: String) -> String { "You: " + text }
  static func unread(_ count: Int) -> String { count == 1 ? "1 unread message" : "\(count) unread messages" }
  static let image = "Image"
  static let video = "Video"
  static let audio = "Audio"
  static let file = "File"
  static let location = "Location"
  static let removedMessage = "Message deleted"
  static let encryptedMessage = "Encrypted message"

  // MARK: Room
  static let back = "Back to conversations"
  static let details = "Members and settings"
  static func members(_ count: Int) -> String { count == 1 ? "1 member" : "\(count) members" }
  static let openingRoom = "Opening the room…"
  static let returning = "Going back to where you were…"
  static let toLatest = "Go to the latest messages"
  static func invitedBy(_ name: String) -> String { name + " invites you to this room." }
  static func invitedToChat(_ name: String) -> String { name + " wants to chat with you." }
  static let invitedBySomeone = "You are invited to this room."
  static let accept = "Accept"
  static let decline = "Decline"
  static let joining = "Joining…"
  static let left = "You are not in this room any more."
  static let banned = "You were banned from this room."
  static let unknownRoom = "You are not in this room."
  static let join = "Join"
  static let forget = "Remove from this device"
  static let encrypted = "This room is encrypted. Martlet in the browser cannot read or write in it yet."
  static let upgraded = "This room has moved to a new one."
  static let goToNewRoom = "Go to the new room"
  static let dropHere = "Drop files to send them"
  static let copyText = "Copy text"
  static let delete = "Delete for everyone"
  static let discard = "Discard"
  static let retry = "Try again"
  static let copied = "Copied"
  static let cancelSending = "Cancel sending"
  static let deleteQuestion = "Delete this message for everyone?"
  static func sentAt(_ time: String) -> String { time }

  // MARK: Details
  static let about = "About"
  static let roomName = "Room name"
  static let topic = "Topic"
  static let noTopic = "No topic"
  static let edit = "Edit"
  static let save = "Save"
  static let saving = "Saving…"
  static let cancel = "Cancel"
  static let close = "Close"
  static let people = "People"
  static let invite = "Invite"
  static let inviting = "Inviting…"
  static let inviteTitle = "Invite someone"
  static let inviteHint = "A user ID, for example @alice:example.org"
  static func invited(_ user: String) -> String { user + " is invited." }
  static let isInvited = "invited"
  static let isYou = "you"
  static let loadingMembers = "Getting the members…"
  static func moreMembers(_ count: Int) -> String { "and \(count) more" }
  static let leave = "Leave room"
  static let leaveQuestion = "Leave this room?"
  static let leaveNote = "You will get no more messages from it. To come back you may need a new invitation."
  static let leaving = "Leaving…"
  static let address = "Address"
  static let copy = "Copy"
  static let message = "Write to them"
  static let remove = "Remove from the room"
  static let removeQuestion = "Remove this person from the room?"
  static let removing = "Removing…"

  // MARK: New conversation
  static let directChat = "Direct chat"
  static let newRoom = "New room"
  static let joinRoom = "Join a room"
  static let userID = "User ID"
  static let userIDHint = "For example @alice:example.org"
  static let startChat = "Start chat"
  static let starting = "Starting…"
  static let createRoom = "Create room"
  static let creating = "Creating…"
  static let roomNameMissing = "Give the room a name."
  static let topicOptional = "Topic (optional)"
  static let inviteOptional = "Invite (optional)"
  static let inviteManyHint = "User IDs with spaces between them"
  static let anyoneMayJoin = "Anyone on the server may join"
  static let aliasHint = "The address people join by, for example garden"
  static let aliasName = "Room address"
  static let aliasMissing = "Give the room an address, so that people can find it."
  static let aliasWrong = "An address has no spaces, no : and no #."
  static let joinAddress = "Room address"
  static let joinAddressHint = "For example #garden:example.org"
  static func notUserID(_ text: String) -> String { text + " is not a user ID. Write it like @alice:example.org." }

  // MARK: Profile
  static let displayName = "Display name"
  static let displayNameHint = "What others see"
  static let changePicture = "Change picture"
  static let uploadingPicture = "Uploading…"
  static let notPicture = "This file is not a picture."
  static let privateReceipts = "Do not show others how far I have read"
  static let logOut = "Sign out"
  static let logOutQuestion = "Sign out of this browser?"
  static let logOutNote = "Messages that are not sent yet and drafts are lost."
  static let loggingOut = "Signing out…"

  // MARK: Image
  static let download = "Download"
  static let downloadFailed = "The file could not be downloaded. Check your connection and try again."
  static func imageNamed(_ name: String) -> String { "Image " + name }

  /// What the messenger says, where this program knows better words.
  static var phrases: Phrases {
    var phrases = Phrases()
    phrases.cancel = discard
    return phrases
  }
}
