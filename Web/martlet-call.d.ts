export type Role = 'subscriber' | 'publisher' | 'publisheronly' | 'moderator';

/** One participant. */
export interface CallConnection {
  readonly id: string;
  /** What the application's server wrote into the token. */
  readonly data: string;
  readonly role: Role;
  /** Milliseconds since 1970. */
  readonly created: number;
}

/** What a connection publishes. Its members change with `streamChanged`. */
export interface CallStream {
  readonly id: string;
  /** The connection that publishes it. */
  readonly connection: string;
  readonly name: string;
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
  readonly videoType: 'camera' | 'screen' | 'custom' | '';
  readonly width: number;
  readonly height: number;
  /** By a moderator. */
  readonly muted: boolean;
  readonly created: number;
}

export interface CallDevice {
  id: string;
  kind: 'camera' | 'microphone' | 'speaker';
  /** Empty until the person has allowed the page to use one. */
  label: string;
}

/** Why something was not done: `code` for programs (Documentation/Calls.md has them all), `message` for developers. */
export class CallError extends Error {
  readonly code: string;
}

export interface PublishOptions {
  /** Whether sound is sent from the start; true. */
  audio?: boolean;
  /** Whether a picture is sent from the start; true. With `source: 'camera'` and `false` no camera is opened at all. */
  video?: boolean;
  /** Others see it; at most 1,000 characters. */
  name?: string;
  /** A `MediaStream` stays yours: copies of its tracks are sent. */
  source?: 'camera' | 'screen' | MediaStream;
  /** Of `devices()`; the browser's choice without. */
  camera?: CallDevice | string;
  microphone?: CallDevice | string;
}

export interface SubscribeOptions {
  audio?: boolean;
  video?: boolean;
  /** As large as it is shown, in pixels: the server then sends no more than is of use. */
  width?: number;
  height?: number;
  frameRate?: number;
}

export interface CallPublisher extends EventTarget {
  /** Shows what is sent. */
  readonly element: HTMLVideoElement;
  /** ID of the stream; null while the server does not know it (while reconnecting anew). */
  readonly stream: string | null;
  readonly audio: boolean;
  readonly video: boolean;
  readonly isMutedByModerator: boolean;
  setAudio(on: boolean): Promise<void>;
  setVideo(on: boolean): Promise<void>;
  /** The camera of that device, or the next one; without interruption for those who watch. Fulfilled with its ID. */
  switchCamera(device?: CallDevice | string): Promise<string>;
  switchMicrophone(device: CallDevice | string): Promise<void>;
  unpublish(): Promise<void>;
  /** `changed`; `muted`: a moderator did it; `ended`: unpublished by whomever, or the device or the shared screen is gone. */
  addEventListener(type: 'changed' | 'muted' | 'ended', listener: (event: Event) => void, options?: AddEventListenerOptions | boolean): void;
}

export interface CallSubscriber extends EventTarget {
  readonly element: HTMLVideoElement;
  readonly stream: CallStream;
  readonly audio: boolean;
  readonly video: boolean;
  /** Fulfilled when the first picture, or the first sound of a stream without one, is there. */
  readonly seen: Promise<void>;
  /** Off: not heard, and not sent here either. For this page alone. */
  setAudio(on: boolean): Promise<void>;
  setVideo(on: boolean): Promise<void>;
  setSize(width: number, height: number): Promise<void>;
  unsubscribe(): Promise<void>;
  /** `ended`: unsubscribed, or the stream is gone. */
  addEventListener(type: 'ended', listener: (event: Event) => void, options?: AddEventListenerOptions | boolean): void;
}

export interface CallEventMap {
  connectionCreated: CustomEvent<{ connection: CallConnection }>;
  /** The role of a connection changed; it may be your own (`call.connection`). */
  connectionChanged: CustomEvent<{ connection: CallConnection }>;
  connectionDestroyed: CustomEvent<{ connection: CallConnection }>;
  /** Of others: those that were there come right after `connect` as well. */
  streamCreated: CustomEvent<{ stream: CallStream }>;
  streamChanged: CustomEvent<{ stream: CallStream }>;
  streamDestroyed: CustomEvent<{ stream: CallStream }>;
  /** `from` is null where the application's server sent it. A signal to all comes to its sender, too. */
  signal: CustomEvent<{ kind: string; data: string; from: CallConnection | null }>;
  /** A moderator has muted what is published here; `setAudio(true)` takes it back. */
  muted: CustomEvent<{ publisher: CallPublisher }>;
  /** Whether streams that begin do so muted. */
  muteAll: CustomEvent<{ active: boolean }>;
  /** Who speaks; null for nobody. */
  speaker: CustomEvent<{ stream: CallStream | null }>;
  /** No picture comes for now: the line is too narrow (`quality`), or it was turned off (`publisher`, `subscriber`). */
  videoDisabled: CustomEvent<{ stream: CallStream; reason: 'quality' | 'publisher' | 'subscriber' }>;
  videoEnabled: CustomEvent<{ stream: CallStream; reason: string }>;
  recordingStarted: CustomEvent<{ archive: string }>;
  recordingStopped: CustomEvent<{ archive: string }>;
  connected: CustomEvent<{ connection: CallConnection }>;
  /** The line is cut. What is asked meanwhile is done later; no signal is lost or repeated. */
  reconnecting: CustomEvent<{}>;
  reconnected: CustomEvent<{ connection: CallConnection }>;
  /** It is over, once. `code`: `left`, `forced`, `ended`, `unreachable`, … */
  closed: CustomEvent<{ code: string; message: string }>;
}

/**
 * A participant of a session of a Martlet server.
 *
 *     const call = new MartletCall({ url: 'https://example.org', session, token });
 *     call.addEventListener('streamCreated', ({ detail }) => call.subscribe(detail.stream, others));
 *     await call.connect();
 *     await call.publish(own, { name: 'Ana' });
 *
 * Promises are rejected with a `CallError`. Names, data and signals are what other people say: show them as texts, never as markup.
 */
export class MartletCall extends EventTarget {
  /** `url`: of the server (https://…), or of its socket (wss://…). */
  constructor(options: { url: string; session: string; token: string });
  static readonly isSupported: boolean;
  static devices(): Promise<CallDevice[]>;

  readonly state: 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'closed';
  /** Your own connection; null before `connect`. */
  readonly connection: CallConnection | null;
  /** Whether media goes straight to the others. */
  readonly isRelayed: boolean;
  /** The connections of others. */
  readonly connections: CallConnection[];
  readonly streams: CallStream[];
  readonly speaker: CallStream | null;
  /** ID of the archive that is being recorded. */
  readonly recording: string | null;
  readonly isMuteOfAllActive: boolean;

  connect(): Promise<CallConnection>;
  disconnect(): Promise<void>;
  devices(): Promise<CallDevice[]>;

  /** `element`: a video element, or one that gets a video of its own; null shows nothing. */
  publish(element: HTMLElement | null, options?: PublishOptions): Promise<CallPublisher>;
  subscribe(stream: CallStream | string, element: HTMLElement | null, options?: SubscribeOptions): Promise<CallSubscriber>;
  /** `kind`: at most 128 of A-Z a-z 0-9 - _ ~; `data`: at most 8 KB; without `to` for all. Fulfilled when the server has it; rejected with
   * `not_found` if `to` is undefined or not in the call. */
  signal(signal: { kind?: string; data?: string; to?: CallConnection | string }): Promise<void>;

  // Moderators

  forceMute(stream: CallStream | string): Promise<void>;
  /** All but some, and those that come; `active: false` takes it back. */
  muteAll(options?: { active?: boolean; except?: (CallStream | string)[] }): Promise<void>;
  forceUnpublish(stream: CallStream | string): Promise<void>;
  forceDisconnect(connection: CallConnection | string): Promise<void>;
  startRecording(): Promise<void>;
  stopRecording(): Promise<void>;

  addEventListener<K extends keyof CallEventMap>(type: K, listener: (event: CallEventMap[K]) => void, options?: AddEventListenerOptions | boolean): void;
  removeEventListener<K extends keyof CallEventMap>(type: K, listener: (event: CallEventMap[K]) => void, options?: EventListenerOptions | boolean): void;
}
