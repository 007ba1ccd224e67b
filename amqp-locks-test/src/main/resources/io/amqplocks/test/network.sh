# Makes the network of one cluster, and takes it away when standard input ends: when the cluster is
# closed, or its JVM is gone, however it ended. Says "ready N", or why it cannot be.
#
# Nodes 1 to 3 live in a network namespace each. Two bridges join them in a fourth one, where no
# firewall of the machine stands in between: one for the nodes among themselves (198.18.N.0/24), one
# for their clients on the machine (198.19.N.0/24; both ranges are set aside for tests, RFC 2544).
#
# N is the first number that no running script has: a file lock says so, and the kernel gives it up
# with its process. So whatever is there under a number whose lock was free belongs to a dead run.
trap '' INT TERM HUP
n=0
while :; do
  exec 9>"/run/lock/amqp-locks-cluster-$n" || exit
  flock -n 9 && break
  n=$((n + 1))
  [ "$n" -le 254 ] || { echo "all networks for clusters are in use" && exit; }
done
name=amqp-locks-$n

remove() {
  for each in 1 2 3 switch; do
    if [ -e "/run/netns/$name-$each" ]; then
      for pid in $(ip netns pids "$name-$each"); do kill -9 "$pid"; done
      ip netns delete "$name-$each"
    fi
  done
  ip link show "$name" && ip link delete "$name"
}

make() {
  for each in 1 2 3 switch; do ip netns add "$name-$each" || return; done
  ip link add "$name" type veth peer name host netns "$name-switch" || return
  ip address add "198.19.$n.254/24" dev "$name" || return
  ip link set "$name" up || return
  ip -n "$name-switch" -batch - <<END || return
link add peers type bridge
link add clients type bridge
link set peers up
link set clients up
link set host master clients
link set host up
END
  for each in 1 2 3; do
    ip -n "$name-switch" -batch - <<END || return
link add peers$each type veth peer name peers netns $name-$each
link add clients$each type veth peer name clients netns $name-$each
link set peers$each master peers
link set clients$each master clients
link set peers$each up
link set clients$each up
END
    ip -n "$name-$each" -batch - <<END || return
address add 198.18.$n.$each/24 dev peers
address add 198.19.$n.$each/24 dev clients
link set lo up
link set peers up
link set clients up
END
  done
}

remove >/dev/null 2>&1
if why=$(make 2>&1); then
  echo "ready $n"
  cat >/dev/null
else
  echo "$why"
fi
remove >/dev/null 2>&1
