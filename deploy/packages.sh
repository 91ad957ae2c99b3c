# Installs Debian packages by name; read by deploy/run and tests/run. A name may carry the command
# that makes it unnecessary: npm:npm is missing only where there is no command npm.

# packages for a build, and for a run
packages_to_build="gcc g++ meson ninja-build pkg-config:pkg-config libc6-dev libmicrohttpd-dev
libjansson-dev libzmq3-dev libopenblas-dev liblapacke-dev libsuitesparse-dev libmuparser-dev
libcurl4-openssl-dev libsqlite3-dev libsodium-dev libgnutls28-dev zlib1g-dev
python3:python3 curl:curl"

# additional packages for the tests
packages_to_test="libcunit1-dev ccache clang libclang-rt-dev llvm:llvm-symbolizer clang-format-14 gdb valgrind
strace:strace python3-zmq python3-requests python3-jsonschema python3-numpy python3-pip python3-setuptools
python3-wheel git:git procps:ps openssl:openssl man-db groff-base zsh:zsh fish:fish nodejs:node npm:npm
nginx-light:nginx haproxy:haproxy python3-yaml"
# and for those of --all that build images and packages
packages_to_ship="buildah podman:podman runc conmon catatonit golang-github-containers-common
mmdebstrap prometheus:promtool dpkg-dev patchelf cmake"
# a browser for the page's tests; Ubuntu has none outside its snaps
if grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
    packages_to_test="$packages_to_test chromium:chromium"
fi

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
            echo "packages: $name is not available here; its users will report that" >&2
        fi
    done
}

# installs missing packages; on other systems than Debian and Ubuntu prints the names, returns 2
packages_install() {
    local missing sudo=""
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
    # word splitting is meant from here on: lists of names
    # shellcheck disable=SC2086
    {
        $sudo apt-get update -q >/dev/null || return 1
        missing=$(packages_available $missing)
        echo "packages: installing $missing"
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
            $missing </dev/null >/dev/null || return 1
    }
}
