package store_test

import (
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/connect/store"
)

// shapes are queries that describe the tables in the same words in each database: the columns in order with type, whether
// they may be absent and how they sort; the keys and indexes with their columns; and what refers to what.
var shapes = map[string][]string{
	"sqlite": {
		`SELECT m.name || ' ' || c.name || ' ' || CASE c.type WHEN 'INTEGER' THEN 'number' WHEN 'TEXT' THEN 'text' WHEN 'BLOB' THEN 'bytes' ELSE c.type END
			|| CASE WHEN c."notnull" THEN '' ELSE ' or nothing' END
			FROM sqlite_master m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'schema_version' ORDER BY m.name, c.cid`,
		`SELECT m.name || ' key ' || (SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_table_info(m.name) WHERE pk > 0 ORDER BY pk))
			FROM sqlite_master m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'schema_version' ORDER BY 1`,
		`SELECT m.tbl_name || ' index ' || m.name || ' ' || (SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(m.name) ORDER BY seqno))
			FROM sqlite_master m WHERE m.type = 'index' AND m.sql IS NOT NULL ORDER BY 1`,
		`SELECT m.name || ' ' || f."from" || ' to ' || f."table" || ' ' || f."to" || ' ' || lower(f.on_delete)
			FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY 1`,
	},
	"postgres": {
		`SELECT table_name || ' ' || column_name || ' ' || CASE WHEN data_type = 'bigint' THEN 'number' WHEN data_type = 'text' AND collation_name = 'C' THEN 'text'
			WHEN data_type = 'bytea' THEN 'bytes' ELSE data_type || coalesce(collation_name, '') END || CASE is_nullable WHEN 'NO' THEN '' ELSE ' or nothing' END
			FROM information_schema.columns WHERE table_schema = 'rackrate' AND table_name <> 'schema_version'
			ORDER BY table_name COLLATE "C", ordinal_position`,
		`SELECT conrelid::regclass || ' key ' || (SELECT string_agg(a.attname, ',' ORDER BY k.n)
				FROM unnest(conkey) WITH ORDINALITY k(id, n) JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.id)
			FROM pg_constraint WHERE contype = 'p' AND connamespace = 'rackrate'::regnamespace AND conrelid <> 'schema_version'::regclass ORDER BY 1`,
		`SELECT i.indrelid::regclass || ' index ' || i.indexrelid::regclass || ' ' || (SELECT string_agg(a.attname, ',' ORDER BY k.n)
				FROM unnest(i.indkey) WITH ORDINALITY k(id, n) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.id)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'rackrate'::regnamespace AND NOT i.indisprimary ORDER BY 1`,
		`SELECT c.conrelid::regclass || ' ' || a.attname || ' to ' || c.confrelid::regclass || ' ' || b.attname
				|| CASE c.confdeltype WHEN 'a' THEN ' no action' ELSE c.confdeltype::text END
			FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
			JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
			WHERE c.contype = 'f' AND c.connamespace = 'rackrate'::regnamespace ORDER BY 1`,
	},
}

func TestSchemasAgree(t *testing.T) {
	got := map[string][]string{}
	onBoth(t, func(t *testing.T, address string, db *store.DB) {
		name, _, _ := strings.Cut(address, ":")
		for _, query := range shapes[name] {
			lines, err := db.Strings(t.Context(), query)
			must(t, err)
			if len(lines) < 4 {
				t.Errorf("found only %q by %s", lines, query)
			}
			got[name] = append(got[name], lines...)
		}
	})
	if len(got) == len(shapes) { // without a server there is nothing to compare with
		same(t, got["postgres"], got["sqlite"])
	}
}

// Both refuse what must not be, whoever asks.
func TestChecks(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		one := publish(t, db, reading("aws", "one", 1), 0)
		bad := reading("", "one", 1)
		_, err := db.Publish(t.Context(), bad, 0)
		wants(t, err, "store.failed")
		bad = reading("gcp", "one", 1)
		bad.Hash = ""
		_, err = db.Publish(t.Context(), bad, 0)
		wants(t, err, "store.failed")
		bad = reading("gcp", "one", 1)
		bad.Finished = bad.Finished.AddDate(9000, 0, 0)
		_, err = db.Publish(t.Context(), bad, 0)
		wants(t, err, "store.failed")
		for _, statement := range []string{
			"DELETE FROM snapshot", "DELETE FROM source", "UPDATE source SET snapshot = 99",
			"UPDATE fetch_log SET outcome = 'lost'", "UPDATE fetch_log SET outcome = 'failed'", "UPDATE fetch_log SET snapshot = NULL",
		} {
			if err := db.Exec(t.Context(), statement); err == nil {
				t.Errorf("%s: nothing stops it", statement)
			}
		}
		if got := sources(t, db, noon.AddDate(1, 0, 0)); len(got) != 1 || got[0].Snapshot != one {
			t.Errorf("%+v", got)
		}
	})
}
