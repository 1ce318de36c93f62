/** Who wrote a message. Rows with equal `id` belong together. */
export interface Sender {
  id: string;
  name: string;
  /** Address of a picture. */
  avatar?: string;
  /** Own messages stand on the other side. */
  own?: boolean;
}

export interface Reaction {
  key: string;
  count: number;
  own?: boolean;
  /** Who reacted, in the reader's language. */
  people?: string;
}

/** Width and height in pixels fix its place before it is loaded. */
export interface Picture {
  name?: string;
  source?: string;
  width?: number;
  height?: number;
  /** Stands there until the picture is loaded. */
  blurHash?: string;
}

/** One piece of a message. */
export type Part =
  | { text: string }
  | { image: Picture }
  /** In one row that scrolls sideways, or a grid of so many rows. At most 60 are drawn. */
  | { images: (Picture & { video?: boolean })[]; rows?: number }
  /** The picture in its place; `duration` in milliseconds. */
  | { video: Picture & { duration?: number } }
  | { file: { name: string; detail?: string } }
  /** Played in its place. `duration` in milliseconds, `waveform` of loudness from 0 to 255. */
  | { audio: { source: string; name?: string; detail?: string; duration?: number; waveform?: number[]; voice?: boolean } }
  /** Drawn by the renderer of that kind; `text` is read aloud, and stands there without a renderer. `height` in pixels, where it is known, keeps its place. */
  | { custom: { kind: string; data: unknown; text: string; height?: number } }
  | { location: { name?: string; detail?: string; live?: boolean } }
  /** At most 20 answers; `votes` missing: secret. */
  | { poll: { question: string; answers: { id: string; text: string; votes?: number; own?: boolean }[]; choices?: number; voters?: number; ended?: boolean } }
  | { preview: { url: string; title: string; text?: string; site?: string; picture?: Picture } };

/** What a row says: a message (with a sender) or a quiet line. Texts are shown as texts, never as markup. */
export interface Row {
  line?: string;
  sender?: Sender;
  text?: string;
  /** Milliseconds since 1970; now if missing. */
  time?: number | Date;
  /** Above the text. */
  image?: Picture;
  file?: { name: string; detail?: string };
  /** Instead of text, image and file: at most 20, one below the other. Anything else that a part may be stands here as well. */
  parts?: Part[];
  state?: 'sent' | 'sending' | 'queued' | 'failed';
  receipt?: 'hidden' | 'sent' | 'delivered' | 'read';
  edited?: boolean;
  header?: string;
  footer?: string;
  /** `id` of a row makes the quote lead there. */
  reply?: { sender?: Sender; text: string; id?: RowID };
  reactions?: Reaction[];
}

/**
 * Draws content of a kind into `element`, which is of the page's document and never shown in it: what stands in it is shown in the row, now and
 * whenever it changes. Of elements those that show texts, tables, pictures, links and buttons are; inline styles are kept, classes and IDs are
 * not; a button pressed there is clicked here. What is returned is called when the row leaves the view. `id` is that of the event, in a room; it is
 * missing where the message was on its way still.
 */
export type Renderer = (data: any, element: HTMLElement, about: { row: RowID; width: number; sender?: Sender; id?: string }) => void | (() => void);

/**
 * Markdown of the page's own. What stands between `begin` and `end` (the same if missing) on one line becomes an element; words that match become a
 * link, in which `$1` to `$9` are the groups and `$&` all of it, each as one piece of the address. Code stays as it is, and words in links do.
 * Only a `span` has attributes: `data-mx-color` and `data-mx-bg-color` (`#` and six digits), `data-mx-spoiler` (why it is hidden).
 */
export type MarkdownRule =
  | { begin: string; end?: string; tag: 'b' | 'strong' | 'i' | 'em' | 'u' | 's' | 'del' | 'sub' | 'sup' | 'code' | 'span'; attributes?: Record<string, string> }
  | { pattern: RegExp; link: string };

/** A text that came in from somebody in a text chat. */
export interface ChatMessage {
  text: string;
  senderID: string;
  alias?: string;
  /** Milliseconds since 1970; now if missing. */
  time?: number | Date;
}

/** A row for as long as the element exists. One that is gone does nothing. */
export type RowID = number;
export type TypingID = number;

/** A login made elsewhere. */
export interface Session {
  userID: string;
  deviceID: string;
  accessToken: string;
}

export interface MessengerEventMap {
  /** Requests are taken; what was asked before waited. */
  ready: CustomEvent<null>;
  /**
   * For figures of the page's own: each try and how it ended. `action` is a method's request, `send` (a text that a person wrote), `connect` (to
   * the homeserver), `needolder` or `neednewer`. Nothing of it leaves the page.
   */
  measure: CustomEvent<{ action: string; outcome: 'attempt' | 'success' | 'failure' }>;

  /** A widget was opened or closed, by the user or by the page. */
  toggle: CustomEvent<{ open: boolean }>;

  // With a homeserver

  signedin: CustomEvent<{ userID: string; deviceID: string }>;
  /** Nobody is signed in: at the start where nobody was kept, and whenever a session ends. */
  signedout: CustomEvent<{}>;
  /** The server answers, for the first time or again. */
  connected: CustomEvent<{}>;
  /** It does not, or there is no network. What is written waits. */
  disconnected: CustomEvent<{}>;
  /** Any new event of the room, your own as well: `type` and `content` as Matrix has them. History is not reported. */
  message: CustomEvent<{ id: string; type: string; sender: string; name: string; own: boolean; time: number; content: Record<string, unknown> }>;
  /** A message with a file, besides `message`. */
  file: CustomEvent<Said & { kind: 'image' | 'video' | 'audio' | 'file'; fileName: string; size?: number; type?: string; url?: string }>;
  /** The message `event` says something else now. */
  edited: CustomEvent<Said & { event: string; content: Record<string, unknown> }>;
  removed: CustomEvent<Said & { event: string }>;
  reacted: CustomEvent<Said & { event: string; key: string }>;
  /** Somebody else has read up to there. */
  read: CustomEvent<{ userID: string; event: string }>;
  /** Has reached a device of somebody else, on servers that tell. */
  delivered: CustomEvent<{ userID: string; event: string }>;
  /** The server has what was sent here. */
  sent: CustomEvent<{ id: string }>;
  /** It could not be sent. */
  unsent: CustomEvent<{ message: string }>;
  typingstarted: CustomEvent<{ userID: string }>;
  typingstopped: CustomEvent<{ userID: string }>;
  memberjoined: CustomEvent<Member>;
  /** Went, was removed or banned. */
  memberleft: CustomEvent<Member>;
  /** Another name or picture, invited, asks to come in, no longer invited. */
  memberchanged: CustomEvent<Member & { membership: string }>;
  /** The user left the room, was removed or banned. */
  left: CustomEvent<{ by: string; membership: string }>;
  /** Something else about the room changed: a state event. */
  system: CustomEvent<{ id: string; type: string; stateKey: string; sender: string; time: number; content: Record<string, unknown> }>;
  unread: CustomEvent<{ count: number }>;
  /** One of the attribute `commands` was written, and `text` behind it. Nothing is sent: what it does is the page's matter. */
  command: CustomEvent<{ name: string; text: string }>;
  /** Somebody followed a link to another room, which the frame does not show. */
  openroom: CustomEvent<{ room: string }>;
  /** In words for people. With `isFinal` nothing can be shown, and the frame says why. */
  error: CustomEvent<{ message: string; isFinal: boolean }>;

  /**
   * A text is to be sent. Preventing it leaves the text in the box; `wait(promise)` decides later: `false` or a rejection leaves it too, and with a
   * homeserver, or in a text chat, another text is sent instead. Commands, files, polls and places are not asked about. A text chat says who writes.
   */
  send: CustomEvent<{ text: string; senderID?: string; alias?: string; time?: number; wait(answer: Promise<boolean | string | void>): void }>;

  // Without one

  /** The close button of a text chat (attribute `closable`). */
  close: CustomEvent<{}>;
  /** Rows older than `before` (the oldest there is, if any) are wanted (attribute `fetches-older`): answer with `endOlder`. */
  needolder: CustomEvent<{ before?: RowID }>;
  /** Rows newer than `after`: answer with `endNewer`. */
  neednewer: CustomEvent<{ after?: RowID }>;
  visible: CustomEvent<{ first: RowID; last: RowID; atEnd: boolean }>;
  react: CustomEvent<{ row: RowID; key: string }>;
  addreaction: CustomEvent<{ row: RowID; x: number; y: number }>;
  retry: CustomEvent<{ row: RowID }>;
  cancel: CustomEvent<{ row: RowID }>;
  openmedia: CustomEvent<{ row: RowID; part: number; item: number }>;
  openfile: CustomEvent<{ row: RowID; part: number }>;
  openlocation: CustomEvent<{ row: RowID; part: number }>;
  /** What is chosen now: the IDs of the answers. */
  vote: CustomEvent<{ row: RowID; part: number; answers: string[] }>;
  opensender: CustomEvent<{ row: RowID }>;
  openreply: CustomEvent<{ row: RowID }>;
  openthread: CustomEvent<{ row: RowID }>;
  showreaders: CustomEvent<{ row: RowID }>;
  showreactors: CustomEvent<{ row: RowID }>;
}

/** Who did something to a message, and when. */
export interface Said {
  id: string;
  userID: string;
  name: string;
  own: boolean;
  time: number;
}

export interface Member {
  userID: string;
  name: string;
  /** Who did it. */
  by: string;
  time: number;
}

/** What may stand in the tag; without a comment: `''`. */
export interface MessengerAttributes {
  /** The name of the frame for ears. */
  label?: string;
  theme?: 'light' | 'dark';
  bubbles?: 'house' | 'standard' | 'simple';
  /** Nothing is written there. */
  readonly?: '';
  /**
   * A bubble in the corner of the page, at the end or the start of the line, that opens the chat; read once. Its name is the `label`. It counts
   * unread messages. The chat is loaded when it is opened or a method is called, and at once if the user stayed signed in (`keep`).
   */
  widget?: '' | 'start' | 'end';
  /** A widget's chat is open. */
  open?: '';

  // With a homeserver

  /** An address. */
  homeserver?: string;
  /** ID, alias or link. Another one, or another homeserver, loads the frame anew. */
  room?: string;
  /** The session outlives the page, for this page's origin, this server and this room; without it everything is gone with the page. */
  keep?: '';
  /** Where the server has guests, nobody needs an account. */
  guest?: '';
  /**
   * Names of the page's own commands, in small letters and separated by spaces: offered behind a slash at the beginning of a text, after those
   * of the client; the event `command` tells of them. A name of the client's (`me`, `invite` …) stays the client's.
   */
  commands?: string;
  /** A person's reaction to a message takes the place of their earlier one. */
  'one-reaction'?: '';
  /** Beside each message stands how many members have not read it. */
  'unread-numbers'?: '';

  // Without one; read once, but for `disabled`

  /** Unicode scalars of a text; 1000 if missing. */
  maxlength?: string;
  /** Its value is shown in the box. A text chat is not connected. */
  disabled?: string;
  'fetches-older'?: '';
  /** Names of the events that the page handles; controls for others are not drawn. */
  actions?: string;
  /** Beside which messages of others of a group; `group-start` if missing. */
  avatars?: 'group-start' | 'group-end' | 'every' | 'none';
  /** Comments: the newest row, the box and typing rows are on top; older rows are fetched at the bottom. */
  'newest-first'?: '';
  /** A message that answers one of the list (`reply.id`) stands beneath it, without a quote. */
  'answers-beneath'?: '';
  /** More rows than this do not stay: those farthest from the reader are let go, and asked for by `needolder` and `neednewer` later. */
  'max-rows'?: string;
  /** Makes it a text chat, of somebody with this ID. */
  'sender-id'?: string;
  alias?: string;
  'chat-title'?: string;
  /** The title bar has a button that closes. */
  closable?: '';
  /** `custom`: messages are drawn by the renderer of the kind `message`, whose data is the text. */
  look?: 'standard' | 'house' | 'custom';
  /** Own messages wait for `setState` before they count as sent. */
  confirms?: '';
}

/**
 * A conversation: a room of a homeserver, or rows that the page fills.
 *
 * Custom properties that begin with `--mg-` are handed on; call `restyle()` when they changed. In a room the language is that of the nearest
 * `lang`. An element of the page's own with `slot="composer"` stands in the place of the box to write in: it calls `send`, or `add`.
 * Promises are fulfilled in the order of the calls when the page shows the change; where something is refused, with an Error in words for people.
 */
export class MartletMessenger extends HTMLElement {
  homeserver: string | null;
  room: string | null;
  theme: string | null;
  /** Whether the widget is open. Setting it opens or closes the widget. */
  open: boolean;

  /**
   * Draws content of a kind: of rows (`custom.kind`; those already shown keep what they have), and in a room messages with that `msgtype` and
   * events of that type, from any sender, in the room and in threads. Those without a renderer are shown as their `body`. There the data is all of the
   * event's content, as somebody wrote it: put it into texts, not into markup. It is drawn anew when the message is edited.
   */
  register(kind: string, renderer: Renderer): Promise<void>;
  setText(text: string): Promise<void>;
  scrollToEnd(): Promise<void>;
  setBubbles(name: 'house' | 'standard' | 'simple'): Promise<void>;
  restyle(): void;

  // With a homeserver

  /** Who is signed in. */
  readonly userID: string | null;
  /** Goes on with a login made elsewhere. Keep the token out of attributes and addresses; the element does not keep it. */
  signIn(session: Session): Promise<void>;
  /** Signs in by a JSON Web Token with which the page's server vouches for the person, where the homeserver trusts that (`org.matrix.login.jwt`). */
  signInWithJWT(jwt: string): Promise<void>;
  /** Ends the session, on the server as well. */
  signOut(): Promise<void>;
  join(): Promise<void>;
  /**
   * Rules beside the client's Markdown, in their order, for texts that people write from now on; at most 50. An invalid rule throws a TypeError. The text
   * as it was written stays the message's `body`. Texts after `/plain`, captions of files and what the page sends are not affected.
   */
  markdown: readonly MarkdownRule[];
  /** Fulfilled with the event's ID when the server has it. `data` are further keys of the content, with your own names (`com.example.order`). */
  send(text: string, options?: { data?: Record<string, unknown> }): Promise<string | RowID>;
  /** Sends any event, also of a custom type. */
  sendEvent(type: string, content: Record<string, unknown>): Promise<string>;
  /** Sends a message of a custom kind (`com.example.order`; names that begin with `m.` are refused), up to 60,000 bytes. `body` is for clients that do not draw it. */
  sendMessage(content: { msgtype: string; body: string; [key: string]: unknown }): Promise<string>;
  /** Fulfilled when scrolling begins; what is not loaded is fetched first. Rejected if `event` is not an event's ID. */
  scrollToEvent(event: string): Promise<void>;

  // Without one

  add(row: Row, options?: AddOptions): Promise<RowID>;
  addAll(rows: Row[], options?: AddOptions): Promise<RowID[]>;
  update(id: RowID, row: Row): Promise<void>;
  replace(id: RowID, row: Row): Promise<RowID>;
  remove(...ids: RowID[]): Promise<void>;
  clear(): Promise<void>;
  scrollToRow(id: RowID, options?: { place?: 'top' | 'centre' | 'bottom'; highlight?: boolean }): Promise<void>;
  addTyping(sender: Sender): Promise<TypingID>;
  removeTyping(id: TypingID): Promise<void>;
  /** Ends what `needolder` began. */
  endOlder(rows: Row[], state?: 'more' | 'end' | 'failed'): Promise<RowID[]>;
  endNewer(rows: Row[], state?: 'more' | 'end' | 'live' | 'failed'): Promise<RowID[]>;
  setTail(state: 'more' | 'end' | 'live' | 'failed'): Promise<void>;
  /** To the end of the group that a message is in: the group grows, then the message appears. */
  addToGroup(id: RowID, row: Row): Promise<RowID>;
  /** The avatar leaves it, it fades, the group closes. Another message in its place is `replace`. */
  removeFromGroup(id: RowID): Promise<void>;
  /** The messages of its group, from the oldest to the newest. */
  group(id: RowID): Promise<RowID[]>;
  /**
   * All rows that `change` adds, updates, replaces and removes before it returns are one step with one layout, in the order of the calls (`clear` may
   * be among them; whatever else it asks for is done before): `natural` follows the end or keeps the row before the eyes, `keep-stable` keeps it at
   * the end too, `none` keeps the number of the scroll position.
   */
  transaction(change: (messenger: MartletMessenger) => void, mode?: 'none' | 'natural' | 'keep-stable'): Promise<void>;

  // A text chat (attribute `sender-id`), besides all of these. There `send` needs no event: the message is there at once, or the Error says `empty`,
  // `too long` or `not connected`.

  /** The sender's ID decides the side. An own message that repeats a text waiting for its confirmation confirms it. */
  addMessage(message: ChatMessage): Promise<RowID>;
  /** What became of an own message; unknown rows are harmless. */
  setState(id: RowID, state: 'sent' | 'sending' | 'queued' | 'failed'): Promise<void>;

  addEventListener<K extends keyof MessengerEventMap>(
    type: K, listener: (this: MartletMessenger, event: MessengerEventMap[K]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

export interface AddOptions {
  before?: RowID;
  after?: RowID;
  atStart?: boolean;
  /** Comes in without motion. */
  still?: boolean;
}

declare global {
  interface HTMLElementTagNameMap { 'martlet-messenger': MartletMessenger; }
}
