#!/bin/sh
# Times `rackrate catalog import` against sqlite3's own .import of the same file into an indexed table, side by side in one run, each
# into a new database: the best of RUNS (5), with the most memory that any run took. Without files it takes the two largest of
# RACKRATE_SHARED. Needs sqlite3 and GNU time.
set -eu
runs=${RUNS:-5}
[ $# -gt 0 ] || set -- "${RACKRATE_SHARED:?names the folder of reference data}/catalog/anycloud/azure/vms.csv" "$RACKRATE_SHARED/catalog/anycloud/gcp/vms.csv"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/rackrate" ./cmd/rackrate

# best NAME ROWS: runs what stands in $dir/run, and prints seconds, rows a second and MB.
best() {
	: >"$dir/times"
	for _ in $(seq "$runs"); do
		rm -f "$dir"/db*
		/usr/bin/time -a -o "$dir/times" -f '%e %M' sh "$dir/run" >/dev/null
	done
	awk -v name="$1" -v rows="$2" '
		NR == 1 || $1 < s { s = $1 } $2 > kb { kb = $2 }
		END { if (s < 0.01) s = 0.01; printf "%-10s %8d rows %6.2f s %10d rows/s %6.1f MB\n", name, rows, s, rows / s, kb / 1024 }' "$dir/times"
}

for file; do
	rows=$(($(wc -l <"$file") - 1))
	first=$(head -n 1 "$file" | tr -d '\r' | cut -d, -f1)
	columns=$(head -n 1 "$file" | tr -d '\r' | sed 's/[^,][^,]*/"&"/g')
	echo "$file"
	cat >"$dir/run" <<-RUN
		sqlite3 "$dir/db" 'create table t($columns)' 'create index i on t("$first", Region)' '.import --csv --skip 1 "$file" t' 2>/dev/null
	RUN
	best sqlite3 "$rows"
	cat >"$dir/run" <<-RUN
		HOME="$dir" RACKRATE_DB=sqlite:"$dir/db" exec "$dir/rackrate" catalog import "$file"
	RUN
	best rackrate "$rows"
done
