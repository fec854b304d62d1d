package store

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// postgres is a store in a PostgreSQL database, in a schema of its own, so that it can share the database with others.
type postgres struct {
	config *pgx.ConnConfig
}

const (
	ownSchema  = "rackrate"
	updateLock = 0x7261636b // "rack", the first half of the key of the lock of updates; the other is the schema's
	// connections is more than the sources that are read at once: one holds the lock of updates.
	connections = 8
)

// parsePostgres reads an address and adds what it leaves out: the schema, and for how long to wait.
func parsePostgres(address string, wait time.Duration) (postgres, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return postgres{}, err
	}
	config.ConnectTimeout = min(config.ConnectTimeout, wait)
	for name, value := range map[string]string{
		"search_path":      ownSchema,
		"lock_timeout":     strconv.FormatInt(wait.Milliseconds(), 10),
		"application_name": "rackrate",
	} {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	return postgres{config}, nil
}

func (p postgres) goose() goose.Dialect     { return goose.DialectPostgres }
func (p postgres) bind(query string) string { return query }

func (p postgres) place() string {
	host := p.config.Host
	if !strings.HasPrefix(host, "/") { // the folder of a socket
		host = net.JoinHostPort(host, strconv.Itoa(int(p.config.Port)))
	}
	return host + "/" + p.config.Database
}

// tables looks into the schema that new tables go to.
func (p postgres) tables() string {
	return `SELECT count(*), count(*) FILTER (WHERE tablename = '` + versionTable + `') FROM pg_tables WHERE schemaname = current_schema()`
}

func (p postgres) open() (r, w *sql.DB, err error) {
	pool := stdlib.OpenDB(*p.config)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, pool, nil
}

func (p postgres) openReadOnly(context.Context) (*sql.DB, func() bool, error) {
	config := p.config.Copy()
	config.RuntimeParams["default_transaction_read_only"] = "on"
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(connections)
	return pool, nil, nil
}

// prepare makes the schema, if it is our own. It looks first: who may use a schema need not have the right to make one.
func (p postgres) prepare(ctx context.Context, pool *sql.DB) error {
	if p.config.RuntimeParams["search_path"] != ownSchema {
		return nil
	}
	there := false
	if err := pool.QueryRowContext(ctx, "SELECT current_schema() IS NOT NULL").Scan(&there); err != nil || there {
		return err
	}
	_, err := pool.ExecContext(ctx, "CREATE SCHEMA "+ownSchema)
	if s := sqlState(err); s == "42P06" || s == "23505" { // another process has just made it
		return nil
	}
	return err
}

// sqlState is the code of PostgreSQL in an error; empty where there is none.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// explain goes by the error codes (PostgreSQL documentation, appendix A).
func (p postgres) explain(err error) error {
	switch state := sqlState(err); state {
	case "53100":
		return at(codeFull, p.place()).Wrap(err)
	case "55P03", "40001", "40P01": // not had in time, or given up for another
		return at(codeLocked, p.place()).Wrap(err)
	case "25006":
		return at(codeReadOnly, p.place()).Wrap(err)
	case "28000", "28P01", "42501":
		return at(codeDenied, p.place()).Wrap(err)
	case "3D000":
		return problem.New(problem.Input, "store.no_database", problem.Args{"Place": p.place()}).Wrap(err)
	case "":
		return p.unreachable(err)
	}
	return nil
}

// unreachable is the problem that nobody answers; nil where somebody does.
func (p postgres) unreachable(err error) error {
	var connect *pgconn.ConnectError
	var broken *net.OpError
	switch {
	case errors.As(err, &broken):
		err = broken.Err
	case errors.As(err, &connect):
		err = connect.Unwrap()
	default:
		return nil
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return problem.New(problem.Internal, "store.unreachable", problem.Args{"Place": p.place(), "Error": text}).Wrap(err)
}

// lock is an advisory lock of the session, which the server lets go of when the connection ends. The last statement of the
// session that holds it is the one that took it, so its start says since when.
func (p postgres) lock(ctx context.Context, db *DB) (func() error, error) {
	session, err := db.w.Conn(ctx)
	if err != nil {
		return nil, err
	}
	got := false
	err = session.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1, hashtext(current_schema()))", updateLock).Scan(&got)
	if err == nil && !got {
		var since sql.Null[time.Time]
		err = session.QueryRowContext(ctx, `SELECT max(a.query_start) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE l.locktype = 'advisory' AND l.granted AND l.classid::bigint = $1 AND l.objid = hashtext(current_schema())::oid`,
			updateLock).Scan(&since)
		if err == nil {
			err = busy(p.place(), since.V)
		}
	}
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return func() error {
		// Also where ctx has ended: the lock has to go.
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		_, err := session.ExecContext(ctx, "SELECT pg_advisory_unlock($1, hashtext(current_schema()))", updateLock)
		return db.explain(ctx, errors.Join(err, session.Close()))
	}, nil
}
