# Installs packages of Debian whose services must not start. Read by bin/broker and bin/bench.
#
# Steps whose failure matters end in "|| return": set -e does not hold inside "step || other".
# shellcheck shell=bash

policy=/usr/sbin/policy-rc.d
saved_policy=$policy.before-amqp-locks
export DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*" >&2; }

can_install() {
  [ -f /etc/debian_version ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]
}

# Two runs at once would spoil each other's folders, and this file's change to the policy. Whatever
# is started below is not given the lock ("9>&-"): what lives on would keep it.
lock_installs() {
  exec 9>"/run/lock/amqp-locks-broker"
  flock -w 600 9 || { say "Another install has been at work for 10 minutes: see to that one."; exit 1; }
  trap allow_services EXIT
  allow_services
}

# Debian starts a service as soon as it is installed unless policy-rc.d says 101.
forbid_services() {
  [ ! -e "$policy" ] || mv "$policy" "$saved_policy" || return
  printf '#!/bin/sh\n# Put here by amqp-locks for the time of one install.\nexit 101\n' >"$policy" || return
  chmod 755 "$policy"
}

allow_services() {
  if [ -e "$saved_policy" ]; then
    mv -f "$saved_policy" "$policy"
  elif grep -qs 'Put here by amqp-locks' "$policy"; then # also what a cut earlier run left
    rm -f "$policy"
  fi
}

updated=no
install_packages() {
  if [ "$updated" = no ]; then
    # One broken source that has nothing to do with us must not stop the rest.
    apt-get update -q </dev/null >&2 9>&- || say "apt-get update had errors; going on all the same."
    updated=yes
  fi
  apt-get install -q -y --no-install-recommends "$@" </dev/null >&2 9>&-
}

install_stopped() { # a package, and its service
  forbid_services || return
  install_packages "$1" || return
  allow_services
  # The package would start the service at the next boot; nobody asked for that.
  if command -v systemctl >/dev/null; then
    systemctl disable "$2.service" >&2 2>/dev/null || true
  fi
}
