package store

import (
	"context"
	"time"
)

// OpenWaiting is Open with another patience for locks.
func OpenWaiting(ctx context.Context, address string, wait time.Duration) (*DB, error) {
	return open(ctx, address, wait)
}

// Exec runs a statement past the store, on the connection that writes.
func (db *DB) Exec(ctx context.Context, statement string) error {
	_, err := db.w.ExecContext(ctx, statement)
	return err
}

// Strings gives the first column of a query.
func (db *DB) Strings(ctx context.Context, query string) (list []string, err error) {
	rows, err := db.r.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// Bound runs a query with placeholders.
func (db *DB) Bound(ctx context.Context, query string, args ...any) (s string, err error) {
	err = db.r.QueryRowContext(ctx, db.kind.bind(query), args...).Scan(&s)
	return s, err
}

// Readable says whether tables of a version can be read by a program of another.
func (db *DB) Readable(have, want int64) error { return db.readable(have, want) }
