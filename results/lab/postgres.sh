# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# PostgreSQL and its pgbench in a guest of the laboratory; sourced before a script.

PATH=$PG_BIN:$PATH
TZ=GMT LC_ALL=C
export PATH TZ LC_ALL
DATA=/volumes/database/data
TRACING=/sys/kernel/tracing

# volume NUMBER NAME OFFSET SIZE: ext4 in a part of the disk, in bytes, mounted on /volumes/NAME. Of
# what mkfs.ext4 draws at random nothing may differ from run to run.
volume()
{
	part=/dev/sim0p$1
	addpart /dev/sim0 "$1" $(($3 / 512)) $(($4 / 512))
	wait_for 5 [ -e "$part" ]
	mkfs.ext4 -q -F -U "00000000-0000-4000-8000-00000000000$1" \
		-E "hash_seed=00000000-0000-4000-8000-00000000000$1" "$part"
	mkdir -p "/volumes/$2"
	mount_volume "$1" "$2"
}

# mount_volume NUMBER NAME: without the thread that would read bitmaps and initialise inode tables.
mount_volume()
{
	mount -t ext4 -o noinit_itable,no_prefetch_block_bitmaps "/dev/sim0p$1" "/volumes/$2"
}

# as_postgres COMMAND: PostgreSQL refuses to run as root.
as_postgres()
{
	su -s /bin/sh postgres -c "$1"
}

# sql COMMAND: the answer, as words with | between them.
sql()
{
	psql -h /tmp -U postgres -Atqc "$1"
}

# server SETTING=VALUE…: start it, in the cgroup of this shell.
server()
{
	settings=
	for setting in "$@"; do
		settings="$settings -c $setting"
	done
	as_postgres "exec postgres -D $DATA $settings" >>server.log 2>&1 &
	server=$!
	wait_for 120 sql 'select 1'
}

# stop_server: as a clean shut-down, with a checkpoint.
stop_server()
{
	kill -INT "$(head -n 1 $DATA/postmaster.pid)"
	wait $server || fail "the server: $(cat server.log)"
}

# make_database SCALE SETTING=VALUE…: a new cluster with pgbench's tables, on the disk and not in memory.
make_database()
{
	scale=$1
	shift
	mkdir -p /etc $DATA
	echo 'postgres:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
	echo 'postgres:x:1000:' >/etc/group
	chown 1000:1000 $DATA
	as_postgres "initdb -D $DATA -U postgres -A trust --no-locale -E UTF8 -N" >initdb.log 2>&1 ||
		fail "initdb: $(cat initdb.log)"
	server "$@" fsync=off autovacuum=off max_wal_size=1GB
	pgbench -h /tmp -U postgres -i -q -s "$scale" postgres >pgbench-i.log 2>&1 ||
		fail "pgbench -i: $(cat pgbench-i.log)"
	sql checkpoint
	stop_server
	umount /volumes/database
	mount_volume 1 database
}

# start_tracing SECTORS: what is queued and completed below this sector, and each fdatasync.
start_tracing()
{
	echo mono >$TRACING/trace_clock
	echo 32768 >$TRACING/buffer_size_kb
	for event in block_bio_queue block_rq_complete; do
		echo "sector < $1" >$TRACING/events/block/$event/filter
		echo 1 >$TRACING/events/block/$event/enable
	done
	for event in sys_enter_fdatasync sys_exit_fdatasync; do
		echo 1 >$TRACING/events/syscalls/$event/enable
	done
}

# sound_volumes: fail if the kernel found a fault in one.
sound_volumes()
{
	! dmesg | grep 'EXT4-fs error' || fail "a file system is broken"
}

# stop_tracing FILE
stop_tracing()
{
	echo 0 >$TRACING/tracing_on
	grep -q '^overrun: 0$' $TRACING/per_cpu/cpu0/stats || fail "the buffer of events is too small"
	cat $TRACING/trace >"$1"
}
