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

/** What a row says: a message (with a sender) or a quiet line. Texts are shown as texts, never as markup. */
export interface Row {
  line?: string;
  sender?: Sender;
  text?: string;
  /** Milliseconds since 1970; now if missing. */
  time?: number | Date;
  /** Width and height in pixels fix its place before it is loaded. */
  image?: { name?: string; source?: string; width?: number; height?: number; blurHash?: string };
  file?: { name: string; detail?: string };
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

export interface MessengerEventMap {
  ready: CustomEvent<null>;
  /** Preventing it leaves the text in the box; `wait(promise)` decides later: `false` or a rejection leaves it too. */
  send: CustomEvent<{ text: string; wait(answer: Promise<boolean | void>): void }>;
  /** Older rows are wanted (attribute `fetches-older`): answer with `endOlder`. */
  needolder: CustomEvent<{}>;
  neednewer: CustomEvent<{}>;
  visible: CustomEvent<{ first: RowID; last: RowID; atEnd: boolean }>;
  react: CustomEvent<{ row: RowID; key: string }>;
  addreaction: CustomEvent<{ row: RowID; x: number; y: number }>;
  retry: CustomEvent<{ row: RowID }>;
  cancel: CustomEvent<{ row: RowID }>;
  openmedia: CustomEvent<{ row: RowID; item: number }>;
  openfile: CustomEvent<{ row: RowID }>;
  opensender: CustomEvent<{ row: RowID }>;
  openreply: CustomEvent<{ row: RowID }>;
  openthread: CustomEvent<{ row: RowID }>;
  showreaders: CustomEvent<{ row: RowID }>;
  showreactors: CustomEvent<{ row: RowID }>;
}

/**
 * Attributes: `theme` (light, dark), `bubbles` (house, standard, simple), `maxlength`, `readonly`, `disabled` (its value is shown in the box),
 * `fetches-older`, `label`, `actions` (names of the events above that the page handles; controls for others are not drawn; read once).
 * Custom properties that begin with `--mg-` are handed on; call `restyle()` when they changed.
 * Every promise is fulfilled when the page shows the change, in the order of the calls.
 */
export class MartletMessenger extends HTMLElement {
  add(row: Row, options?: AddOptions): Promise<RowID>;
  addAll(rows: Row[], options?: AddOptions): Promise<RowID[]>;
  update(id: RowID, row: Row): Promise<void>;
  replace(id: RowID, row: Row): Promise<RowID>;
  remove(...ids: RowID[]): Promise<void>;
  clear(): Promise<void>;
  scrollToEnd(): Promise<void>;
  scrollToRow(id: RowID, options?: { place?: 'top' | 'centre' | 'bottom'; highlight?: boolean }): Promise<void>;
  addTyping(sender: Sender): Promise<TypingID>;
  removeTyping(id: TypingID): Promise<void>;
  setBubbles(name: 'house' | 'standard' | 'simple'): Promise<void>;
  /** Ends what `needolder` began. */
  endOlder(rows: Row[], state?: 'more' | 'end' | 'failed'): Promise<RowID[]>;
  endNewer(rows: Row[], state?: 'more' | 'end' | 'live' | 'failed'): Promise<RowID[]>;
  setTail(state: 'more' | 'end' | 'live' | 'failed'): Promise<void>;
  setText(text: string): Promise<void>;
  restyle(): void;
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
