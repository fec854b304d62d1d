package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// dialect is what differs between the databases; all else is written once.
type dialect interface {
	goose() goose.Dialect
	// place names the store to people, without a password.
	place() string
	// bind writes the parameters $1, $2 … of a statement, which may come in any order, as the database does.
	bind(query string) string
	// open gives a pool to read and one to write, which may be the same, and makes the folder and file they need.
	open() (r, w *sql.DB, err error)
	// openReadOnly gives a pool to read; ErrNone where there is nothing to open. Where the database cannot keep others from
	// writing below what is read, moved says whether somebody has.
	openReadOnly(context.Context) (r *sql.DB, moved func() bool, err error)
	// prepare makes what the tables need to stand in.
	prepare(context.Context, *sql.DB) error
	// tables is a query for the number of tables, and for how many of them hold the version of ours.
	tables() string
	// explain gives the problem that an error of the database is; nil where it is none of those we know.
	explain(error) error
	// lock takes the lock of updates, or gives the problem that it is taken.
	lock(context.Context, *DB) (unlock func() error, err error)
}

// stamp is how times are kept: in UTC, to the microsecond and of one width, so that they sort as text on both databases.
const stamp = "2006-01-02T15:04:05.000000Z"

func stampOf(t time.Time) string { return t.UTC().Format(stamp) }

// scanTime reads a stamp into a time.
type scanTime struct{ to *time.Time }

// Scan is how database/sql hands over a value; an absent one is the zero time.
func (s scanTime) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		*s.to = time.Time{}
		return nil
	}
	t, err := time.Parse(stamp, text)
	*s.to = t
	return err
}

// clean is a text as both databases can keep it: PostgreSQL takes neither a zero byte nor broken UTF-8, and the words of a
// server may hold either.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
