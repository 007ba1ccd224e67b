# Runs a server until standard input ends, as it does when the JVM ends, however that happens.
# The arguments: the signal that ends the server, its folder, and then the command.
signal=$1
folder=$2
shift 2
trap : INT TERM HUP # what a terminal sends to all of its processes must not leave a server behind
exec 3<&0 >/dev/null 2>&1 # nobody may be left to read what a shell says of a signal
"$@" </dev/null >"$folder/log" 2>&1 3<&- &
server=$!
{
  read -r nothing <&3
  [ -e "$folder/ended" ] || kill -s "$signal" "$server"
} 2>/dev/null &
reader=$!
while kill -0 "$server" 2>/dev/null; do wait "$server"; done
: >"$folder/ended"
while kill -0 "$reader" 2>/dev/null; do wait "$reader"; done
rm -rf "$folder"
