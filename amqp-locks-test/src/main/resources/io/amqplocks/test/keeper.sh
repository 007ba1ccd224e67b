# Outlives the JVM by a moment and leaves nothing of its broker behind, even after kill -9.
# Arguments: the broker's folder, then the command that runs epmd in the foreground.
# Standard input is a pipe from the JVM; its end is the sign to clean up. The broker itself ends
# at the end of its own input, but one that is frozen cannot notice.
trap '' INT TERM HUP
folder=$1
shift
"$@" </dev/null >/dev/null 2>&1 &
epmd=$!
epmd_started=$(started "$epmd")
echo ready
cat >/dev/null
if [ -s "$folder/pid" ]; then
  read -r pid pid_started <"$folder/pid"
  end "$pid" "$pid_started"
fi
end "$epmd" "$epmd_started"
# The dying broker may still write; a second look takes what the first one missed.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
