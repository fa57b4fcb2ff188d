#!/usr/bin/env bash
# Deploys; not the documentation of anything.

set -euo pipefail

source ./lib.sh
. "$(dirname "$0")/common.sh"
source "${BASH_SOURCE%/*}/env" --quiet
[ -f /etc/default/deploy ] && . /etc/default/deploy
. 'single quoted.sh'
. $HOME/.profile

readonly VERSION=1.0 name='deploy'
declare -r LIMIT=3
declare -r -i COUNT=4
declare -rx EXPORTED=5
typeset -r OLD
declare -a LIST=(one two)
declare -A MAP
export PATH="$PATH:/opt/bin" editor=vi EMPTY=
export ALREADY
export -f upload
plain=1
alias ll='ls -l'

# Uploads a file.
#
# $1 - the file
upload() {
  local target=$1
  readonly once=1
  inner() { :; }
  cat <<EOF > "$target"
not_this() { :; }
EOF
  cat <<-'END'
	nor_this() { :; }
	END
}

function with_keyword { echo '
in_a_string() { :; }
'; }
function both()
{
  echo "${x#not a comment}" # a comment
} > "$LOG" 2>&1

subshell() (
  cd /
)
on_condition() if true; then echo; fi
my::name.with-signs() { :; }

if [[ $1 == x ]]; then
  conditional() { :; }
  export MODE=fast
else
  conditional() { return 1; }
  export MODE=slow
fi

case $1 in
  start) started() { :; } ;;
esac
X=1 command
(readonly IN_SUBSHELL=1)
upload "$@"
signed() {
    if [[ $1 == *.@(asc|sig)\ * ]]; then
        a
    fi
}
bracketed() {
    [[ $1 =~ ^a\[([^]]*)$ && \
        $2 == @(*/|[.~])* ]] && b
}
options() {
    case $1 in
        --help | -!(-*)@([sD]|[hV]*))
            return
            ;;
    esac
}
after() { b; }
