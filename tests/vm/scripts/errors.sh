# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Write each line of $IN/tunables (FILE|STRING) and $IN/reservations (STRING, where @NAME stands
# for a device) and report the errno, and what is read back if that changed.

modprobe sd_mod
modprobe scsi_debug num_parts=1 dev_size_mb=16
null_disk nullb0
null_disk nullb1
null_disk nullb2 queue_mode=0
load htbs
scheduler nullb0 htbs
scheduler nullb1 none
wait_for 10 test -b /dev/sda1
scheduler sda htbs
cg limits
iosched=/sys/block/nullb0/queue/iosched

htbs=$(dev nullb0)
none=$(dev nullb1)
bio=$(dev nullb2)
partition=$(cat /sys/class/block/sda1/dev)
newline='
'

# content FILE: its one line, to $content; without a program, for there are hundreds of calls.
content()
{
	content=
	read -r content <"$1" || :
}

# try STRING FILE: print the errno, and the content of FILE if it is another than before.
try()
{
	content "$2"
	_before=$content
	_errno=$(put "$1" "$2") || :
	content "$2"
	[ "$_before" = "$content" ] || _errno="$_errno, now $content"
	echo "$_errno"
}

while IFS='|' read -r file string; do
	printf '%s|%s|' "$file" "$string"
	try "$string" "$iosched/$file"
done <"$IN/tunables" >tunables

# The first run finds the group without a reservation, the second with one. Writing "none" lets
# the disk be seen in the group's file.
reserve limits nullb0 none
for state in none own; do
	while IFS= read -r line; do
		string=${line//@htbs/$htbs}
		string=${string//@none/$none}
		string=${string//@bio/$bio}
		string=${string//@partition/$partition}
		string=${string//\\n/$newline}
		printf '%s|' "$line"
		try "$string" $CG/limits/io.htbs
	done <"$IN/reservations" >"reservations-$state"
	reserve limits nullb0 bw=1M burst=64K latency=5000
done

# A file that was opened before its cgroup went.
cg gone
exec 3>$CG/gone/io.htbs
rmdir $CG/gone
echo "$(dev nullb0) bw=1M" >&3 2>gone && fail "a removed cgroup took a reservation"
exec 3>&-

# A user that owns a cgroup's files without CAP_SYS_ADMIN; a user that doesn't own them.
cg delegated other
chown 1000 $CG/delegated/io.htbs
for group in delegated other; do
	/bin/setpriv --reuid 1000 --clear-groups \
		put "$(dev nullb0) bw=1T burst=4G latency=1" $CG/$group/io.htbs || :
	expect "" "$(in_force $group nullb0)"
done >unprivileged

# Every file still takes what it should, at both ends of its range.
while IFS='|' read -r file string; do
	expect_put OK "$string" "$iosched/$file"
	expect "$string" "$(cat "$iosched/$file")" "$file"
done <"$IN/good-tunables"
while IFS='|' read -r string wanted; do
	reserve limits nullb0 "$string"
	expect "$wanted" "$(in_force limits nullb0)" "$string"
done <"$IN/good-reservations"

for disk in nullb0 sda; do
	scheduler $disk none
done
rmmod htbs
