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
  /** Instead of text, image and file: at most 20, one below the other. */
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

  // With a homeserver

  signedin: CustomEvent<{ userID: string; deviceID: string }>;
  /** Nobody is signed in: at the start where nobody was kept, and whenever a session ends. */
  signedout: CustomEvent<{}>;
  /** An event that came into the room, one's own as well: `type` and `content` as Matrix has them. History is not told. */
  message: CustomEvent<{ id: string; type: string; sender: string; name: string; own: boolean; time: number; content: Record<string, unknown> }>;
  unread: CustomEvent<{ count: number }>;
  /** Somebody followed a link to another room, which the frame does not show. */
  openroom: CustomEvent<{ room: string }>;
  /** In words for people. With `isFinal` nothing can be shown, and the frame says why. */
  error: CustomEvent<{ message: string; isFinal: boolean }>;

  /**
   * A text is to be sent. Preventing it leaves the text in the box; `wait(promise)` decides later: `false` or a rejection leaves it too, and with a
   * homeserver another text is sent instead. Commands, files, polls and places are not asked about.
   */
  send: CustomEvent<{ text: string; wait(answer: Promise<boolean | string | void>): void }>;

  // Without one

  /** Older rows are wanted (attribute `fetches-older`): answer with `endOlder`. */
  needolder: CustomEvent<{}>;
  neednewer: CustomEvent<{}>;
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

/**
 * A conversation: a room of a homeserver, or rows that the page fills.
 *
 * Attributes of both: `theme` (light, dark), `label`, `bubbles` (house, standard, simple), `readonly` (nothing is written there). Custom properties that begin with `--mg-` are handed on; call `restyle()` when they changed.
 * With `homeserver` (an address) and `room` (ID, alias or link): `keep` (the session outlives the page, for this page's origin, this server and
 * this room; without it everything is gone with the page), `guest` (where the server has guests, nobody needs an account), and the language of
 * the nearest `lang`. Another `homeserver` or `room` loads the frame anew.
 * Without: `maxlength`, `disabled` (its value is shown in the box), `fetches-older`, `actions`
 * (names of the events above that the page handles; controls for others are not drawn; read once).
 * Promises are fulfilled in the order of the calls when the page shows the change; where something is refused, with an Error in words for people.
 */
export class MartletMessenger extends HTMLElement {
  homeserver: string | null;
  room: string | null;
  theme: string | null;

  setText(text: string): Promise<void>;
  scrollToEnd(): Promise<void>;
  setBubbles(name: 'house' | 'standard' | 'simple'): Promise<void>;
  restyle(): void;

  // With a homeserver

  /** Who is signed in. */
  readonly userID: string | null;
  /** Goes on with a login made elsewhere. Keep the token out of attributes and addresses; the element does not keep it. */
  signIn(session: Session): Promise<void>;
  /** Ends the session, on the server as well. */
  signOut(): Promise<void>;
  join(): Promise<void>;
  /** Fulfilled with the event's ID when the server has it. */
  send(text: string): Promise<string>;
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
