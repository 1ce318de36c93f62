# The steps of ./test; sourced by it after common.bash.

results=.build/test/results
# Before a step's command that is a function of these scripts: steps run programs.
in_shell=(bash -c '. Scripts/common.bash; . Scripts/test-steps.bash; "$@"' _)
answers=$PWD/.build/test/answers

begin_results() {
  mkdir -p "$answers" "$logs"
  rm -f "$answers"/* "$results"
  : >"$results"
  touch "$results.began"
}

# result NAME PASSED FAILED SKIPPED SECONDS "text": a line of the summary. Lanes write at the same time: a short line is written whole.
result() { printf '%s\t' "$@" >>"$results"; printf '\n' >>"$results"; }

is_passed() { grep -qP "^$1\t\d+\t0\t" "$results"; }
has_ended() { grep -qP "^$1\t" "$results"; }

trouble() {
  say "  FAILED: $1"
  words_of_failure "$log"
  reason_in "$log"
}

# words_of_failure LOG: the lines that say why; the last ones if no line does.
words_of_failure() {
  local lines
  lines=$(grep -avE '^ *ok ' "$1" | grep -aE 'recorded an issue|Fatal error|^ *FAILED|error:|^stopped after ' | head -n 20 | cut -c1-500)
  [ -n "$lines" ] || lines=$(tail -n 5 "$1")
  sed 's/^ */    /' <<<"$lines"
}

# check NAME "text" SECONDS COMMAND…: passes or fails as a whole.
check() {
  local name=$1 text=$2
  step "$@"
  if [ $status = 0 ]; then result "$name" 1 0 0 "$seconds" "$text"
  else
    result "$name" 0 1 0 "$seconds" "$text"
    trouble "$text"
  fi
}

# suite NAME "text" SECONDS COMMAND…: its last line "N passed, N failed", perhaps with ", N skipped" or ", N not run", has its counts.
suite() {
  local name=$1 text=$2 line numbers
  step "$@"
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ (skipped|not run))?$' "$log" | tail -n 1)
  read -r -a numbers <<<"$(tr -c '0-9\n' ' ' <<<"$line")"
  if [ -z "$line" ]; then
    numbers=(0 1)
    echo 'it ended without its counts' >>"$log"
  elif [ $status != 0 ] && [ "${numbers[1]}" = 0 ]; then
    numbers[1]=1
    echo "it says that nothing failed, but ended with status $status" >>"$log"
  fi
  result "$name" "${numbers[0]}" "${numbers[1]}" "${numbers[2]:-0}" "$seconds" "$text"
  if [ "${numbers[1]}" != 0 ]; then trouble "$text"; else say "  $text: $line"; fi
}

skip() {
  result skipped 0 0 1 0 "$1"
  say "NOT RUN: $1"
}

build_step() {
  check build 'Build of everything with its tests; warnings are errors' 420 "${in_shell[@]}" swift_build --build-tests
  [ $status = 0 ]
}

# Builds only the test targets that `units` name, or that have them in their sources: from nothing a quarter of the time. All targets if they
# are in none, as what finds a test may be a regular expression.
build_chosen_tests() {
  local name targets=()
  for name in "${units[@]}"; do
    if [ -d "Tests/$name" ]; then targets+=("$name")
    else mapfile -t -O ${#targets[@]} targets < <(grep -rlF --include='*.swift' -- "$name" Tests/*Tests | cut -d/ -f2 | sort -u)
    fi
  done
  if [ ${#targets[@]} = 0 ]; then build_step; return; fi
  mapfile -t targets < <(printf '%s\n' "${targets[@]}" | sort -u)
  MARTLET_TESTS="${targets[*]}" check build "Build of ${targets[*]}" 200 "${in_shell[@]}" swift_build --product martletPackageTests
  [ $status = 0 ]
}

# What Scripts/build-web makes for people.
page_products=(WebApp RoomCalls EncryptionWorker MessengerElement MartletCall)

# Of the programs for wasm as the page's were built last.
portable_suite() { suite portable 'The portable modules natively and as wasm' 60 Scripts/test-portable; }
olm_suite() { suite olm 'Olm beside vodozemac and libolm, natively and as wasm' 60 Scripts/test-olm; }
services_suite() {
  suite messenger 'The messenger and the host'\''s services in the browser' 20 .build/venv/bin/python Benchmarks/Messenger/run.py --services
}

unit_tests() { MARTLET_ANSWERS=$answers Scripts/unit-tests "$@"; }

replay_corpora() {
  local target good=0 bad=0
  for target in $(.build/debug/fuzz --list); do
    if .build/debug/fuzz "$target" --replay "Tests/Fuzz/Corpus/$target"; then good=$((good + 1)); else bad=$((bad + 1)); fi
  done
  echo "$good passed, $bad failed"
  [ $bad = 0 ]
}

# end_to_end [OPTION…]: the tests of Tests/EndToEnd on the debug server, then every answer beside the specification.
end_to_end() {
  suite end-to-end 'End to end: a server, other people'\''s clients, the browser' 600 \
    env MARTLET_PROGRAM="${program:-$PWD/.build/debug/martlet}" Tests/EndToEnd/run "$@"
  if grep -aqE '^schema check: not run' "$log"; then
    skip "$(grep -aE '^schema check: not run' "$log" | tail -n 1)"
  elif [ $# = 0 ]; then
    suite answers 'Every operation has its test, every answer the shape of the specification' 10 \
      Scripts/check-answers "$answers" .build/end-to-end
  fi
}

# two_nodes [OPTION…]: raw tests on two nodes that share a PostgreSQL database and a bucket, each request at the next.
two_nodes() {
  suite two-nodes 'End to end on two nodes, each request at the next' 150 \
    env MARTLET_TEST_NODES=2 MARTLET_TEST_DATABASE=postgres MARTLET_PROGRAM="${program:-$PWD/.build/debug/martlet}" \
    Tests/EndToEnd/run --without browser --artifacts .build/two-nodes "$@"
}
# Waits, stops and kills are the same with one server and take long; other people's clients and long runs are for the night.
two_nodes_share() {
  two_nodes --share 3 --skip calls,crash,dehydrated,device_storm,encryption_storm,fuzzed,identity,kills,live,mail,mautrix,native_calls,nio,push,recording,storm
}

# run_named NAME…: each is a test target, an end-to-end module, or words of a test: of a unit test's suite or function, or of an
# end-to-end test's sentence.
run_named() {
  local name units=() modules=() words=()
  for name in "$@"; do
    if [[ $name = *Tests && -d Tests/$name ]]; then units+=("$name")
    elif [ -f "Tests/EndToEnd/test_${name#test_}.py" ]; then modules+=("${name#test_}")
    elif grep -rqF --include='test_*.py' "$name" Tests/EndToEnd; then words+=("$name")
    else units+=("$name")
    fi
  done
  run_chosen
}

# run_ids ID…: the tests that say they prove a feature.
run_ids() {
  local id found kind name units=() modules=() words=()
  [ $# -gt 0 ] || fail '--id needs an ID of Documentation/FeatureCoverage.md, CallCoverage.md or Guards.md'
  for id in "$@"; do
    found=$(Scripts/guards --id "$id") || exit 1
    while IFS=$'\t' read -r kind name; do
      if [ "$kind" = unit ]; then units+=("$name"); else words+=("$name"); fi
    done <<<"$found"
  done
  run_chosen
}

# Runs the unit tests `units`, the end-to-end modules `modules` and the end-to-end tests whose sentences have `words`.
run_chosen() {
  local name named=()
  if [ ${#units[@]} -gt 0 ]; then
    build_chosen_tests || return
    suite unit-tests 'Unit tests' 200 "${in_shell[@]}" unit_tests "${units[@]}"
  fi
  if [ ${#modules[@]} -gt 0 ] || [ ${#words[@]} -gt 0 ]; then
    check server 'Debug build of everything that runs' 200 "${in_shell[@]}" swift_build
    check page "The page's programs, not optimised" 220 Scripts/build-web --test "${page_products[@]}"
    [ ${#modules[@]} = 0 ] || end_to_end --only "$(IFS=,; printf '%s' "${modules[*]}")"
    for name in "${words[@]}"; do named+=(--named "$name"); done
    [ ${#words[@]} = 0 ] || end_to_end "${named[@]}"
  fi
}

# What is worth a night. Each part takes at most an hour; CONTRIBUTING.md lists them, too. Name, minutes on two cores, what it is for.
long_texts=(
  'release 40 The release build and the smallest page under all end-to-end tests; Olm and the portable modules as they are shipped'
  'packages 25 The Debian package in a clean Debian, and the image'
  'properties 45 The property tests of the unit tests with all their rounds; the server'\''s with each write job run twice'
  'timing 5 Each step of Olm under valgrind: no branch and no index depends on a secret'
  'fuzz 30 A minute of search for each parser'
  'kills 15 1,000 kills of a client that syncs into a file'
  'agreement 50 10,000 random actions, and 2,000 in an encrypted room, after which all clients agree'
  'encrypted 60 Forty-five minutes of 20 clients in an encrypted room amid all that may befall them; five of devices on a server that is killed'
  'resolution 10 Our resolver of room states beside Synapse'\''s, 100,000 cases'
  'storm 10 A minute of 200 clients, half of them hostile'
  'fuzzed 20 Ten minutes of requests made of the specification'
  'looks 25 All screens in all looks and sizes, in languages of other letters and from right to left'
  'benchmarks 50 What the release build executes, takes and needs, against its thresholds'
  'cluster 40 Two nodes under the raw tests and other people'\''s clients, each request at the next; nodes that are killed for ten minutes'
  'soak 50 A server under load for forty minutes: nothing fails, nothing keeps growing'
)
long_parts=("${long_texts[@]%% *}")

list_long() {
  local text name minutes
  for text in "${long_texts[@]}"; do
    name=${text%% *} text=${text#* } minutes=${text%% *}
    printf '%-11s about %2s min  %s\n' "$name" "$minutes" "${text#* }"
  done
}

run_long() {
  local part
  if [ "${1:-}" = list ]; then list_long; exit 0; fi
  for part in "$@"; do [[ " ${long_parts[*]} " == *" $part "* ]] || fail "there is no part $part among: ${long_parts[*]}"; done
  Scripts/install-dependencies --test || exit 1
  [ $# -gt 0 ] || set -- "${long_parts[@]}"
  for part in "$@"; do "long_$part"; done
}

long_release() {
  check release 'Release build of the programs' 400 "${in_shell[@]}" build_release
  check page "The page's programs, as small as they get" 600 Scripts/build-web --release "${page_products[@]}" MessengerBenchmark
  portable_suite
  olm_suite
  services_suite
  check consumer 'A package that depends on this one' 60 Scripts/build-consumer
  program=$PWD/.build/release/martlet end_to_end
}
build_release() { build_server && swift_build -c release --product martlet-terminal && swift_build -c release --product router-peer; }

long_packages() {
  local engine
  Scripts/install-dependencies --package || exit 1
  suite packages 'The package is installed, upgraded, removed and purged in a clean Debian' 900 Packaging/test
  check dockerfile 'Layout of the Dockerfile (hadolint)' 30 Packaging/check-dockerfile
  for engine in docker podman; do
    if "$engine" info >/dev/null 2>&1; then
      check image "The image is built and becomes healthy ($engine)" 1500 Packaging/test-image "$engine"
      return
    fi
  done
  skip 'the image was not built: no container engine runs here'
}

long_timing() {
  if ! command -v valgrind >/dev/null || [ ! -f /usr/include/valgrind/memcheck.h ]; then
    skip 'whether branches of Olm depend on secrets: apt-get install valgrind'
    return
  fi
  suite timing 'No branch and no index of Olm depends on a secret' 400 Scripts/test-constant-time
}

long_fuzz() { suite fuzz 'Search for inputs that break a parser' 1500 "${in_shell[@]}" fuzz_all; }
fuzz_all() {
  local output=$logs/fuzz-output.txt status=0
  Scripts/fuzz --seconds 60 2>&1 | tee "$output" || status=1
  echo "$(grep -c ': passed, ' "$output") passed, $(grep -c ': FAILED' "$output") failed"
  return $status
}

# The long variant of an end-to-end module, on the debug build: module, words, seconds.
long_module() {
  build_step || return
  suite "long-$1" "$2" "${3:-2400}" env MARTLET_LONG=1 MARTLET_PROGRAM="$PWD/.build/debug/martlet" Tests/EndToEnd/run --only "$1"
}
long_kills() { long_module kills '1,000 kills of a client that syncs into a file'; }
long_agreement() {
  long_module agreement '10,000 random actions, after which all clients agree'
  long_module encrypted_agreement '2,000 random actions in an encrypted room, after which all who may read it agree' 1200
}
long_encrypted() {
  long_module device_storm 'Five minutes of logins, uploads, claims and messages on a server that is killed' 900
  long_module encryption_storm 'Forty-five minutes of 20 clients in an encrypted room that are killed, sleep, are cut off and robbed of keys' 3600
}
long_resolution() { long_module state_resolution 'Our resolver of room states beside Synapse'\''s, 100,000 cases'; }
long_storm() { long_module storm 'A minute of 200 clients, half of them hostile'; }
long_fuzzed() { long_module fuzzed 'Ten minutes of requests made of the specification'; }

long_looks() {
  build_step || return
  check page "The page's programs, not optimised" 220 Scripts/build-web --test "${page_products[@]}"
  suite long-looks 'All screens in all looks and sizes, in several languages' 2400 \
    env MARTLET_LONG=1 MARTLET_PROGRAM="$PWD/.build/debug/martlet" Tests/EndToEnd/run --only accessibility,looks
}

# The modules that have property tests of more rounds.
long_properties() {
  build_step || return
  suite long-properties 'The property tests with all their rounds' 2700 env MARTLET_LONG=1 \
    Scripts/unit-tests MediaRouterTests ClientCoreTests HomeserverTests MessengerTests EventContentTests EncryptionTests MatrixClientTests
  # As they may on a database server. What an undone job leaves in memory is a fault, and notes go through their bytes.
  suite long-twice 'The server'\''s unit tests, with each write job run twice' 200 env MARTLET_DATABASE_TWICE=1 \
    Scripts/unit-tests DatabaseTests Server{Core,Accounts,Media,Rooms,Push}Tests Homeserver{,API}Tests CallServerTests BackupTests martletTests
}

build_for_load() {
  local product
  build_server || return
  for product in matrix-load martlet-benchmark; do swift build -c release --product "$product" || return; done
}

long_benchmarks() {
  Scripts/install-dependencies --benchmarks || exit 1
  check release 'Release build of the server, its load and its benchmarks' 500 "${in_shell[@]}" build_for_load
  [ $status = 0 ] || return
  check page "The page's programs, as small as they get" 600 Scripts/build-web --release "${page_products[@]}" MessengerBenchmark
  suite benchmarks 'What the release build executes, takes and needs, against its thresholds' 2400 Benchmarks/check
}

long_cluster() {
  build_step || return
  two_nodes
  long_module nodes 'Three nodes of which one is killed every three seconds, for ten minutes' 900
}

# MARTLET_SOAK_MINUTES makes it shorter, to see that it runs.
long_soak() {
  check release 'Release build of the server, its load and its benchmarks' 500 "${in_shell[@]}" build_for_load
  [ $status = 0 ] || return
  suite soak 'A server under load: nothing fails, nothing keeps growing' 2700 Benchmarks/soak --minutes "${MARTLET_SOAK_MINUTES:-40}"
}

# Seconds of each step, the 20 slowest tests, what failed, the counts.
summary() {
  local name passed failed skipped seconds text all_passed=0 all_failed=0 all_skipped=0
  say 'Done.'
  echo; echo 'Seconds of each step:'
  while IFS=$'\t' read -r name passed failed skipped seconds text _; do
    all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed)) all_skipped=$((all_skipped + skipped))
    [ "$name" = skipped ] || printf '%6s  %s\n' "$seconds" "$text"
  done <"$results"
  for log in "$logs/unit-tests.log" "$logs/end-to-end.log"; do
    [ "$log" -nt "$results.began" ] || continue
    echo; echo "$(basename "$log" .log):"
    sed -n '/^the 20 slowest tests/,/^$/p' "$log" | grep -v '^$'
  done
  echo
  # The end of a long log is what people see: what failed stands there once more, with the words that say why.
  while IFS=$'\t' read -r name passed failed skipped seconds text _; do
    [ "$failed" != 0 ] || continue
    printf 'FAILED  %s: %s\n' "$text" "$logs/$name.log"
    words_of_failure "$logs/$name.log"
  done <"$results"
  [ $all_skipped = 0 ] && skipped= || skipped=", $all_skipped skipped"
  printf '%s\n' "$all_passed passed, $all_failed failed$skipped"
  [ $all_failed = 0 ] && [ $all_passed -gt 0 ]
}
