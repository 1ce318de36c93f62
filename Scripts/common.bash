# Shared by run, dev, test and the scripts beside it; sourced, not run.

# Says what happens, with the seconds since the start.
say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

# Says why it cannot go on, and stops.
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Puts the Swift toolchain into PATH, or says what is missing.
find_swift() {
  local folder
  command -v swift >/dev/null && return
  for folder in "$HOME/.local/share/swiftly/bin" /usr/libexec/swift/bin; do
    if [ -x "$folder/swift" ]; then export PATH=$folder:$PATH; return; fi
  done
  fail 'the Swift toolchain (6.3 or newer) is not in PATH. https://www.swift.org/install says how to get it.'
}

# ---- What is built

# One hash of the name, size and time of every file that the build reads, of the toolchain and of the libraries' versions.
inputs_hash() {
  {
    find Sources Web Package.swift Scripts/{build-web,common.bash} -type f -printf '%p %s %T@\n' | LC_ALL=C sort
    stat -c '%s %Y' "$(dirname "$(readlink -f "$(command -v swift)")")/swift-frontend" 2>/dev/null || true
    pkg-config --modversion libuv sqlite3 libpq libnats libsodium libcrypto vips yaml-0.1 libcurl libllhttp
  } | sha256sum | cut -c1-64
}

# Every native build of these scripts. The index that SwiftPM writes for editors costs a third of an unoptimised build, and the lines that a
# debugger shows a tenth; a plain `swift build` has both, and so builds everything again.
swift_build() {
  local lines=none
  [[ " $* " != *" -c release "* ]] || lines=dwarf
  swift build --disable-index-store -debug-info-format $lines "$@"
}

# build_wasm TOOLSET PRODUCT: a program for wasm, in the folder of a toolset of Scripts/build-web, of which each has one. Sets `linked`, its path.
# A toolset that optimises needs link-time optimisation. All that is built with a toolset is built alike, so that each module is compiled once.
build_wasm() {
  local scratch configuration=release lto=(--experimental-lto-mode full)
  scratch=$(dirname "$1")
  ! grep -q -- '"-Onone"' "$1" || configuration=debug lto=()
  # SwiftPM takes this machine for a Linux with libsodium, of which the linker takes nothing.
  swift build --disable-index-store --triple wasm32-unknown-none-wasm --toolset "$1" -c $configuration "${lto[@]}" \
    -debug-info-format none --product "$2" --scratch-path "$scratch" 2>&1 | sed -u '/libsodium.a: archive member/d' || return
  linked=$scratch/wasm32-unknown-none-wasm/$configuration/$2.wasm
}

# build_server [debug]
build_server() { swift_build -c "${1:-release}" --product martlet && swift_build -c "${1:-release}" --product martlet-thumbnail; }

has_first_parts() { [ -x .build/release/martlet ] && [ -x .build/release/martlet-thumbnail ] && [ -f .build/web/app.wasm ]; }

has_other_parts() {
  local name
  [ -x .build/release/martlet-terminal ] || return 1
  for name in RoomCalls EncryptionWorker MessengerElement MartletCall; do [ -f ".build/web/$name.wasm" ] || return 1; done
}

# build_rest INPUTS: what the first minute does not need, in the order in which it is missed. While .still-building lies in the page's folder,
# the server says of programs that are missing that they are still being built.
build_rest() {
  local status=0
  {
    # First, as chats that begin before it is there would not be encrypted. Its libraries come from the network, which may be gone: the others
    # do not wait for that.
    { Scripts/install-dependencies --encryption && Scripts/build-web EncryptionWorker; } || status=1
    Scripts/build-web RoomCalls || return 1
    Scripts/build-web WebApp MessengerElement MartletCall && build_server && swift_build -c release --product martlet-terminal || return 1
  } >"$logs/rest.log" 2>&1
  [ $status = 0 ] || return 1
  rm -f .build/web/.still-building
  printf '%s\n' "$1" | tee .build/run.first-inputs >.build/run.inputs
}

# ---- Steps
#
# The output of a step goes to $logs/NAME.log, its seconds to $logs/NAME.seconds, by which the next run knows how long it takes.

logs=.build/logs
job=

# step NAME "text" SECONDS COMMAND…: runs it, and says every ten seconds what it is at and about how long it still takes. SECONDS is what it
# takes on two quiet cores; four times that ends it. Sets `status`, `seconds` and `log`.
step() {
  local name=$1 text=$2 expected=$3 limit=$((300 + 4 * $3)) began=$SECONDS said=$SECONDS
  shift 3
  mkdir -p "$logs"
  log=$logs/$name.log
  [ ! -s "$logs/$name.seconds" ] || expected=$(<"$logs/$name.seconds")
  say "$text …"
  set -m
  timeout --kill-after=10 $limit "$@" >"$log" 2>&1 </dev/null &
  job=$!
  set +m
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    [ $((SECONDS - said)) -ge 10 ] || continue
    said=$SECONDS
    say "  $text: $(progress_of "$log")$(time_left $((expected - SECONDS + began)))"
  done
  status=0
  wait "$job" || status=$?
  job= seconds=$((SECONDS - began))
  [ $status != 124 ] || echo "stopped after $limit seconds" >>"$log"
  [ $status != 0 ] || printf '%s\n' $seconds >"$logs/$name.seconds"
}

# The last line of a log; of SwiftPM's only the count, and not its opinion of a library's flags.
progress_of() {
  local line
  line=$(tail -c 400 "$1" | tr '\r' '\n' | grep -avE '^[[:space:]]*$|prohibited flag' | tail -n 1) || true
  if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then line="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"; fi
  printf '%s' "${line:0:80}"
}

time_left() {
  if [ "$1" -ge 90 ]; then printf ', about %s min left' $((($1 + 30) / 60))
  elif [ "$1" -ge 5 ]; then printf ', about %s s left' "$1"
  elif [ "$1" -lt -30 ]; then printf ', longer than usual'
  fi
}

# reason_in LOG: what to do about failures that are not the source's; nothing for others.
reason_in() {
  if grep -qa 'No space left on device' "$1"; then echo 'The disk is full: make room and start again.'
  elif grep -qaE 'Temporary failure resolving|Could not resolve|Network is unreachable|Failed to fetch|Connection (refused|timed out)' "$1"; then
    echo 'There is no network: connect and start again.'
  elif grep -qaE 'Cannot allocate memory|signal 9|Killed' "$1"; then echo 'The memory did not suffice: a build needs about 4 GB.'
  fi
}

# By SIGINT: SwiftPM then ends the compilers that it has started, which it does not by SIGTERM.
end_job() { [ -z "$job" ] || kill -INT -- "-$job" 2>/dev/null || true; }

# side_by_side FUNCTION…: each in a shell of its own. Fails as soon as one fails, and then ends the others.
side_by_side() {
  local lane lanes=() status=0 traps
  traps=$(trap -p INT TERM HUP)
  for lane in "$@"; do
    (trap 'end_job; exit 130' INT TERM HUP; "$lane") &
    lanes+=($!)
  done
  trap 'kill "${lanes[@]}" 2>/dev/null; wait; exit 130' INT TERM HUP
  for lane in "$@"; do
    wait -n || { status=$?; kill "${lanes[@]}" 2>/dev/null; wait; break; }
  done
  trap - INT TERM HUP
  eval "$traps"
  return $status
}
