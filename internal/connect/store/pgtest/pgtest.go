// Package pgtest gives tests a real PostgreSQL: one server for a test binary, started when it is first asked for, on a free
// port of the loopback interface, and a database of its own for each that asks.
//
// The server and its files go when the test binary ends, however it ends: a shell beside it waits for the end of a pipe. The
// programs initdb and postgres are looked for on PATH and where Debian keeps them. Imported by tests only.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
)

// Start gives the address of a new, empty database, which goes when the test ends. Without PostgreSQL the test is skipped; where
// CI is true it fails.
func Start(t testing.TB) string {
	t.Helper()
	s, err := server()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true" {
		t.Skip("initdb and postgres are missing (apt-get install postgresql)")
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	s.run(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { s.run(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.address(name)
}

// running is the server of this test binary.
type running struct {
	port      int
	databases atomic.Int64
	end       *os.File // the pipe whose end is the server's; held so that it is not closed before
}

var server = sync.OnceValues(start)

// The password is never asked for; it is there so that tests can see it kept out of messages.
func (s *running) address(database string) string {
	return fmt.Sprintf("postgres://rackrate:s3cr3t@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

func (s *running) run(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", s.address("postgres"))
	if err == nil {
		_, err = db.Exec(statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attempts allow for a port that somebody else takes between finding it free and using it.
const attempts = 3

func start() (s *running, err error) {
	initdb, err := program("initdb")
	if err != nil {
		return nil, err
	}
	for range attempts {
		if s, err = launch(initdb, filepath.Join(filepath.Dir(initdb), "postgres")); err == nil {
			break
		}
	}
	return s, err
}

// watch starts the server, and stops it and deletes its files when standard input ends: at once, since what it holds is of no
// use to anybody. An interrupt from the keyboard reaches the whole group of processes, so the shell must not heed it.
const watch = `trap '' INT
("$@"; : >"$DIR/ended") >"$DIR/log" 2>&1 &
read -r _
kill -QUIT "$(head -n 1 "$DIR/data/postmaster.pid")"
wait
rm -rf "$DIR"`

// launch makes a server and waits until it answers.
func launch(initdb, postgres string) (*running, error) {
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	as, err := owner(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	prepare := command(as, initdb, "--pgdata", data, "--username", "rackrate", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync")
	prepare.Dir = dir
	if out, err := prepare.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	in, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	shell := command(as, "sh", "-c", watch, "sh", postgres, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-k", "",
		"-c", "fsync=off", "-c", "shared_buffers=32MB")
	shell.Dir, shell.Stdin, shell.Env = dir, in, append(os.Environ(), "DIR="+dir)
	if err := errors.Join(shell.Start(), in.Close()); err != nil {
		return nil, err
	}
	s := &running{port: port, end: end}
	if err := s.wait(filepath.Join(dir, "ended")); err != nil {
		said, _ := os.ReadFile(filepath.Join(dir, "log"))
		return nil, errors.Join(fmt.Errorf("postgres: %w\n%s", err, said), end.Close())
	}
	return s, nil
}

// wait waits for the server to answer, or to end, which a file tells.
func (s *running) wait(ended string) error {
	db, err := sql.Open("pgx", s.address("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		err := db.PingContext(ctx)
		stop()
		if _, gone := os.Stat(ended); err == nil || gone == nil || time.Now().After(until) {
			return err
		}
	}
}

// program finds initdb: on PATH, else the newest of Debian's.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return filepath.EvalSymlinks(path) // the other programs lie beside it
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(installed) == 0 {
		return "", err
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return slices.MaxFunc(installed, func(a, b string) int { return version(a) - version(b) }), nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// owner gives the folder to whom the server will run as, and how to run a program as them: PostgreSQL refuses to run as root.
func owner(dir string) (as []string, err error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return []string{"setpriv", "--reuid", u.Uid, "--regid", u.Gid, "--clear-groups"}, os.Chown(dir, uid, gid)
}

func command(as []string, args ...string) *exec.Cmd {
	args = slices.Concat(as, args)
	return exec.Command(args[0], args[1:]...)
}
