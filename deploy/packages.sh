# Installs Debian packages by name; read by deploy/run and tests/run. A name may carry the command
# that makes it unnecessary: npm:npm is missing only where there is no command npm.

# packages for a build, and for a run
packages_to_build="gcc g++ meson ninja-build pkg-config:pkg-config libc6-dev libmicrohttpd-dev
libjansson-dev libzmq3-dev libopenblas-dev liblapacke-dev libsuitesparse-dev
libcurl4-openssl-dev libsqlite3-dev libsodium-dev libgnutls28-dev zlib1g-dev libzip-dev libexpat1-dev libseccomp-dev
python3:python3 curl:curl"

# additional packages for the tests
packages_to_test="libcunit1-dev libmuparser-dev ccache clang libclang-rt-dev llvm:llvm-symbolizer
clang-format-14 gdb valgrind
strace:strace python3-zmq python3-requests python3-jsonschema python3-numpy python3-pip python3-setuptools
python3-wheel git:git procps:ps openssl:openssl man-db groff-base zsh:zsh fish:fish nodejs:node npm:npm
nginx-light:nginx haproxy:haproxy python3-yaml python3-tqdm python3-pandas python3-matplotlib
mypy:mypy"
# and for those of --all that build images and packages, and analyze the sources
packages_to_ship="buildah podman:podman runc conmon catatonit golang-github-containers-common
mmdebstrap qemu-user-static arch-test:arch-test prometheus:promtool dpkg-dev patchelf cmake
clang-tidy-14:clang-tidy-14 systemd:systemd-analyze kubernetes-client:kubectl docker-compose:docker-compose
podman-compose:podman-compose netavark aardvark-dns iptables iproute2:ip"
# the compiler for the other of the two architectures
case $(uname -m) in
x86_64) packages_to_ship="$packages_to_ship g++-aarch64-linux-gnu:aarch64-linux-gnu-g++" ;;
aarch64) packages_to_ship="$packages_to_ship g++-x86-64-linux-gnu:x86_64-linux-gnu-g++" ;;
esac
# programs beside which the benchmarks measure, as far as the distribution has them
packages_to_bench="libmujoco-dev python3-siconos nginx-light:nginx"
# what the examples in Python use
packages_for_python="python3-zmq python3-requests"
# a browser for the page's tests; Ubuntu has none outside its snaps
if grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
    packages_to_test="$packages_to_test chromium:chromium"
fi

# Prints a line every few seconds ($1) until process $4, the script, has gone or this one is ended:
# word $2 and what log $3 ends with.
signs_of_life() {
    local last
    # a process that is ended does not end what it waits for
    trap 'kill $(jobs -p) 2>/dev/null; exit 0' TERM
    while sleep "$1" >/dev/null 2>&1 & wait "$!" && kill -0 "$4" 2>/dev/null; do
        last=$(tail -n 1 "$3" 2>/dev/null | tr -d '\r' | cut -c 1-90)
        printf '%s: %s\n' "$2" "${last:-at work}"
    done
}

# progress WORD LOG COMMAND…: runs the command with its output in LOG and prints where it is, a line
# every $MECHD_RUN_SIGN seconds; returns what the command does, after the end of LOG if it failed.
progress() {
    local word=$1 log=$2 signs code
    shift 2
    : >"$log" || return 1
    signs_of_life "${MECHD_RUN_SIGN:-3}" "$word" "$log" $$ &
    signs=$!
    "$@" </dev/null >"$log" 2>&1
    code=$?
    kill "$signs" 2>/dev/null
    wait "$signs" 2>/dev/null
    [ "$code" = 0 ] || tail -n 40 "$log"
    return "$code"
}

# packages_to_compile_for ARCH: the packages for a build whose programs run on that architecture, by
# Debian's name for it; for another than this machine's the compilers run here, the libraries do not
packages_to_compile_for() {
    local entry name
    for entry in $packages_to_build; do
        name=${entry%%:*}
        if [ "$1" = "$(dpkg --print-architecture)" ]; then
            printf '%s ' "$name"
            continue
        fi
        case $name in
        gcc) printf '%s ' "crossbuild-essential-$1" "pkgconf:$1" ;;
        g++ | libc6-dev) ;;
        *-dev) printf '%s ' "$name:$1" ;;
        *) printf '%s ' "$name" ;;
        esac
    done
}

# prints those of the given names that are not installed
packages_missing() {
    local entry name command
    for entry in "$@"; do
        name=${entry%%:*} command=${entry#"$name"} command=${command#:}
        if [ -n "$command" ] && command -v "$command" >/dev/null 2>&1; then
            continue
        fi
        if [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
            printf '%s ' "$name"
        fi
    done
}

# prints those of the names that the distribution has; reports the others
packages_available() {
    local name
    for name in "$@"; do
        if apt-cache show "$name" >/dev/null 2>&1; then
            printf '%s ' "$name"
        else
            echo "packages: $name is not available here; the tests or commands that use it will report that" >&2
        fi
    done
}

# installs missing packages; on other systems than Debian and Ubuntu prints the names, returns 2
packages_install() {
    local missing log code sudo=""
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        echo "This is neither Debian nor Ubuntu. Needed are (by Debian's names):"
        printf '%s\n' "$@" | sed 's/:.*//; s/^/    /'
        return 2
    fi
    missing=$(packages_missing "$@")
    if [ -z "$missing" ]; then
        echo "packages: all installed"
        return 0
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "Please install these packages (neither root nor sudo here):"
            echo "    $missing"
            return 2
        fi
        sudo=sudo
    fi
    # a password is asked for before lines of progress come
    $sudo true && log=$(mktemp) || return 1
    # word splitting is meant from here on: lists of names
    # shellcheck disable=SC2086
    progress packages "$log" $sudo apt-get update -q &&
        missing=$(packages_available $missing) &&
        echo "packages: installing $missing" &&
        progress packages "$log" $sudo env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends $missing
    code=$?
    rm -f "$log"
    return "$code"
}
