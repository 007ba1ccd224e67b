# Outlives the JVM by a moment and kills its child, which cannot notice its end while stopped.
# Arguments: the child's process id and when it started.
# Standard input is a pipe from the JVM; its end is the sign to do so. A line is the sign that the
# child has ended.
trap '' INT TERM HUP
echo ready
read -r _ || end "$1" "$2"
