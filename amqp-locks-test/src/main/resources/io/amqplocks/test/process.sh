# When a process started: field 22 of its stat. Empty if it has ended, or where there is no /proc.
# Its program's name, in parentheses before the other fields, may have spaces.
started() {
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  set -- ${line##*)}
  echo "${20}"
}

# Kills the process with the id $1 if it started at $2: after its end a stranger may have its id.
end() {
  [ "$(started "$1")" != "$2" ] || kill -9 "$1" 2>/dev/null
}

